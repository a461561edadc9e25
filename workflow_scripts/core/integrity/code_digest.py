"""What the code of a script and of a whole run means, and the refusal of code edited meanwhile.

A script's digest is that of its syntax tree and those of the modules it imports, directly or not:
comments, docstrings and layout do not count.
"""

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.integrity.provenance import config_digest

PACKAGE = "workflow_scripts"
SILENT = (f"{PACKAGE}/core/errors.py", f"{PACKAGE}/core/run/job.py")  # which write no number
VARIABLE = "ATLAS_CODE"  # of the environment, with the `state` that the run began with
# Of every file what `_code` gives, below the package: Python keeps its bytecode there.
KEPT = f"__pycache__/code.{sys.implementation.cache_tag}.json"
OWN = Path(__file__).read_bytes()  # what was kept holds for this code alone
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# What the parts of a `state` are digests of; of the scripts it has that of their texts before.
WORDS = ("the config, or what it names in a package", "Snakefile or rules/", "", f"{PACKAGE}/")


@cache
def digest(script: Path) -> str:
    """Hex digest of `script` and of every module of this package that it imports, transitively."""
    return _digest(modules(script))


def _digest(paths: Iterable[Path]) -> str:
    lines = sorted(f"{path.relative_to(_root(path))}\n{_read(path)[0]}" for path in paths)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def modules(script: Path) -> set[Path]:
    """The files that `digest` reads: `script` and what it imports, also within functions.

    With the packages above a module, and what `collect` of chapters.py finds; without SILENT
    modules and what only they import.
    """
    seen: set[Path] = set()
    waiting = [script.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in seen and not path.as_posix().endswith(SILENT):
            seen.add(path)
            waiting += _read(path)[1]
    return seen


def _root(script: Path) -> Path:
    for folder in script.parents:
        if folder.name == PACKAGE:
            return folder.parent
    raise ValueError(f"{script} does not lie below a folder {PACKAGE}")


@cache
def _read(path: Path) -> tuple[str, frozenset[Path]]:
    """Digest of a file's code, and the files of this package that its own imports run."""
    root, raw = _root(path), path.read_bytes()
    name, text = path.relative_to(root).as_posix(), hashlib.sha256(OWN + raw).hexdigest()
    kept = _kept(root)
    if kept.get(name, [""])[0] != text:
        kept[name] = [text, *_code(ast.parse(raw, filename=str(path)))]
        _keep(root / PACKAGE / KEPT, kept)
    _, code, imported, collected = kept[name]
    files = [file for module in imported for file in _files(root, module)]
    files += [file for module in collected for file in root.glob(f"{PACKAGE}/*/{module}.py")]
    return code, frozenset(files)


def _code(tree: ast.Module) -> tuple[str, list[str], list[str]]:
    """Digest of a syntax tree in words, the modules it imports, and what it collects by name.

    `ast.unparse` takes three times as long.
    """
    words: list[str] = []
    imported: set[str] = set()
    collected: list[str] = []

    def tell(node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and "collect" in vars(node.func).values():
            collected.extend(map(ast.literal_eval, node.args))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        words.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                tell(value)
            elif not isinstance(value, list):
                words.append(repr(value))
            elif value:  # other Pythons have other fields, which are empty here
                words.append(f"{name} {len(value)}")
                for each in value:
                    tell(each) if isinstance(each, ast.AST) else words.append(repr(each))

    tell(tree)
    ours = sorted(name for name in imported if name.split(".")[0] == PACKAGE)
    return hashlib.sha256(" ".join(words).encode()).hexdigest(), ours, collected


@cache
def _kept(root: Path) -> dict[str, list[Any]]:
    """By file: the digest of its text, and what `_code` gives. Every start asks for 230 files."""
    path = root / PACKAGE / KEPT
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _keep(path: Path, kept: dict[str, list[Any]]) -> None:
    if not sys.dont_write_bytecode and os.access(path.parent, os.W_OK):
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(kept), encoding="utf-8")
        part.replace(path)


@cache
def _files(root: Path, module: str) -> list[Path]:
    """The files that importing `module` runs: the packages above it and itself."""
    parts = module.split(".")
    found = [root.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1)]
    found.append(root.joinpath(*parts).with_suffix(".py"))
    return [path for path in found if path.is_file()]


def state(config: Mapping[str, Any], root: Path) -> str:
    """Digests of the config, of the rules in `root`, and of the scripts there and their code."""
    return ".".join([*_quickly_read(config, root), _digest_of_scripts(root)])


def compare(began: str, config: Mapping[str, Any], root: Path) -> None:
    """Raise InputError where a job reads something else than the run began with."""
    then, now = began.split("."), _quickly_read(config, root)
    # What scripts mean takes a second: it is asked only where their texts differ.
    now.append(then[-1] if now[-1] == then[-2] else _digest_of_scripts(root))
    parts = zip(WORDS, then, now, strict=True)
    if changed := [words for words, before, after in parts if words and before != after]:
        raise InputError(
            f"{' and '.join(changed)}: edited while the run was under way; undo the edit, or let "
            "the run end and start it again (docs/running.md)"
        )


def _quickly_read(config: Mapping[str, Any], root: Path) -> list[str]:
    """Digests of the config, and of the texts of the rules and of the scripts."""
    rules = [root / "Snakefile", *sorted((root / "rules").rglob("*.smk"))]
    scripts = sorted((root / PACKAGE).rglob("*.py"))
    texts = [digests.sha256_of_files(root, files)[:16] for files in (rules, scripts)]
    return [config_digest(config), *texts]


def _digest_of_scripts(root: Path) -> str:
    return _digest((root / PACKAGE).resolve().rglob("*.py"))
