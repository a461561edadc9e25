"""The page's JavaScript modules as one script, without a tool of others.

Modules use two forms, `import { a, b } from "./x.js";` and `export` before a declaration at the
start of a line; a module of others may end in `export{a as b};`. Anything else is refused by name.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError

PAGE = Path(__file__).parent / "page"
NAME = r"[A-Za-z_$][\w$]*"
NAMES = rf"\{{(?P<names>(?:\s*{NAME}\s*,)*(?:\s*{NAME})?\s*)\}}"
IMPORT = re.compile(rf'^import\s+{NAMES}\s+from\s+"(?P<path>\.\.?/[^"\n]+)";[^\S\n]*$', re.M)
DECLARED = rf"(?:(?:async )?function\*? |const |class )(?P<name>{NAME})\b"
DECLARATION = re.compile(rf"^export (?={DECLARED})", re.M)
RENAMED = rf"\s*{NAME}(?:\s+as\s+{NAME})?\s*"
LIST = re.compile(rf"\bexport\s*\{{(?P<names>(?:{RENAMED},)*{RENAMED})\}};?(?:\s*//#[^\n]*)?\s*\Z")
OTHER_FORM = re.compile(r"^[^\S\n]*(?:import|export)\b(?!\s*[:=.,)])|\bimport\s*[(.]", re.M)
ENDS_ELEMENT = re.compile(r"</script|<!--", re.I)


@dataclass(frozen=True)
class Import:
    """One import statement: the file, the names taken from it, and the line it begins on."""

    source: Path
    names: list[str]
    line: int


@dataclass(frozen=True)
class Module:
    """A module's code without its imports and exports, and these.

    `exports` maps the name that others import to the name within the module.
    """

    code: str
    imports: list[Import]
    exports: dict[str, str]


def bundle(start: Path, folder: Path = PAGE) -> str:
    """The module `start` of `folder` and all that it imports, as one script.

    Each module runs in a function of its own, after those that it imports. Raises InputError,
    naming file and line, for another form of import or export, a name or file that is not there, a
    module outside `folder`, modules that import each other, and text that would end a script
    element.
    """
    folder = folder.resolve()
    modules = _in_order(start.resolve(), folder)
    numbers = {path: number for number, path in enumerate(modules)}
    parts = [*_licences(modules), '"use strict";']
    for path, module in modules.items():
        parts += [f"// {path.relative_to(folder).as_posix()}"]
        parts += [f"const module{numbers[path]} = (() => {{"]
        for taken in module.imports:
            parts += [f"const {{ {', '.join(taken.names)} }} = module{numbers[taken.source]};"]
        parts += [module.code.strip("\n")]
        given = ", ".join(f"{outside}: {inside}" for outside, inside in module.exports.items())
        parts += [f"return {{ {given} }};", "})();"]
    return "\n".join(parts) + "\n"


def _licences(modules: dict[Path, Module]) -> list[str]:
    """The licences of modules of others, which stand next to them as LICENSE.<name>."""
    folders = sorted({path.parent for path in modules})
    texts = [_read(path) for folder in folders for path in sorted(folder.glob("LICENSE*"))]
    return [f"/*\n{text.strip()}\n*/" for text in texts]


def _in_order(start: Path, folder: Path) -> dict[Path, Module]:
    """`start` and what it imports, every module after those that it imports."""
    done: dict[Path, Module] = {}
    unfinished: list[Path] = []

    def visit(path: Path) -> None:
        if path in done:
            return
        unfinished.append(path)
        module = read(path, folder)
        for taken in module.imports:
            if taken.source in unfinished:
                files = " -> ".join(file.name for file in [*unfinished, taken.source])
                raise InputError(f"{path}:{taken.line}: a circle of imports, {files}; break it")
            visit(taken.source)
            for name in taken.names:
                if name not in done[taken.source].exports:
                    raise InputError(
                        f"{path}:{taken.line}: {taken.source.name} exports no {name}; correct it"
                    )
        done[path] = module
        unfinished.pop()

    visit(start)
    return done


def read(path: Path, folder: Path) -> Module:
    """Take a module apart; raises InputError for what is wrong within this one file."""
    text = _read(path)
    imports = [_import(match, path, folder) for match in IMPORT.finditer(text)]
    exports = {match["name"]: match["name"] for match in DECLARATION.finditer(text)}
    if listed := LIST.search(text):
        for item in listed["names"].split(","):
            exports[item.split()[-1]] = item.split()[0]
    code = text
    for statement in (IMPORT, DECLARATION, LIST):
        code = statement.sub(lambda match: "\n" * match[0].count("\n"), code)  # lines stay
    if match := OTHER_FORM.search(code):
        line = _line(code, match.end())
        why = 'only import { a } from "./a.js"; and export const, function or class are read'
        raise InputError(f"{path}:{line}: {why}, not: {code.splitlines()[line - 1].strip()[:80]}")
    return Module(code, imports, exports)


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error}); restore it") from error
    if match := ENDS_ELEMENT.search(text):
        why = f"{match[0]} would end the script element; write it in two strings"
        raise InputError(f"{path}:{_line(text, match.start())}: {why}")
    return text


def _import(match: re.Match, path: Path, folder: Path) -> Import:
    line = _line(match.string, match.start())
    source = (path.parent / match["path"]).resolve()
    if not source.is_relative_to(folder):
        raise InputError(f"{path}:{line}: {match['path']} lies outside {folder}; copy it there")
    if not source.is_file():
        raise InputError(f"{path}:{line}: there is no file {match['path']}; correct the path")
    return Import(source, match["names"].replace(",", " ").split(), line)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
