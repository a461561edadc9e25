"""The pages of docs/chapters/, read for what they name: options, products, code and commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "rules/schemas"
FOLDER = ROOT / "docs/chapters"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
SPAN = re.compile(r"`([^`]+)`")
# A span that names a key of the config by its dots, and no file.
DOTTED = re.compile(r"[a-z][\w-]*(?:\.(?:[\w-]+|<\w+>))+")
FILE = re.compile(r"\.(?:csv|html|json|md|parquet|pdf|png|svg|ya?ml)$")
# Options of Snakemake that take one value.
WITH_VALUE = {"--cores", "--configfile", "--config", "--profile", "--report"}


@dataclass(frozen=True)
class Product:
    """A row of a page's table of products: its files below results/<study>/, and its columns.

    The columns are those of the first file; <model>, <task> and the like stand for any name.
    """

    files: tuple[str, ...]
    columns: tuple[str, ...]


def sections(page: Path) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def table(text: str) -> list[list[str]]:
    """The cells of the rows of a section's table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def options(page: Path) -> list[str]:
    """The keys of the table of options, as they stand in the chapter's part of the config."""
    return [key for row in table(sections(page)["Options"]) for key in SPAN.findall(row[0])]


def products(page: Path) -> list[Product]:
    """The rows of the table of products."""
    text = sections(page)["Products"]
    base = re.search(r"Below `results/<study>/(.*?)`", text)
    assert base is not None, page
    rows = []
    for first, *others in table(text):
        files = [*SPAN.findall(first), *SPAN.findall(others[0])]
        files = [base[1] + name for name in files if "/" in name or FILE.search(name)]
        rows.append(Product(tuple(files), tuple(SPAN.findall(others[1]) if others[1:] else ())))
    return rows


def code_links(page: Path) -> list[tuple[str, Path]]:
    """Each name that links to a Python file, and the file."""
    links = re.findall(r"\[`(\w+)`\]\(([^)]+\.py)\)", page.read_text(encoding="utf-8"))
    return [(name, (page.parent / target).resolve()) for name, target in links]


def dotted_keys(page: Path) -> list[str]:
    """The spans that look like keys of the config from its root."""
    known = schema.assemble(SCHEMAS)["properties"]
    spans = SPAN.findall(page.read_text(encoding="utf-8"))
    return [
        span
        for span in spans
        if DOTTED.fullmatch(span) and not FILE.search(span) and span.split(".")[0] in known
    ]


def commands(page: Path) -> list[list[str]]:
    """The words of the commands that begin with `snakemake`, in blocks of code."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found = (re.match(r"(?:    |\$ )?(snakemake .+)", line) for line in lines)
    return [shlex.split(match[1], comments=True) for match in found if match]


def targets(command: list[str]) -> list[str]:
    """The rules and files that a command asks for."""
    words = iter(command[1:])
    asked = []
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif not word.startswith("-"):
            asked.append(word)
    return asked


def is_key(key: str, part: dict[str, Any]) -> bool:
    """Whether a dotted key is in a part of the schema; <name> stands for any entry's name."""
    root = schema.assemble(SCHEMAS)
    for name in key.split("."):
        part = schema.resolve(part, root)
        known, others = part.get("properties", {}), part.get("additionalProperties")
        if name in known:
            part = known[name]
        elif name.startswith("<") and isinstance(others, dict):
            part = others
        else:
            return False
    return True


def filled(path: str, names: dict[str, str]) -> str:
    """A product's path with `names` in place of <model>, <task> and the like."""
    return re.sub(r"<(\w+)>", lambda match: names[match[1]], path)


def outputs(plan: str) -> Iterator[str]:
    """The files that the jobs of a dry run would write."""
    for line in re.findall(r"^ +output: (.+)$", plan, re.M):
        yield from line.split(", ")
    for line in re.findall(r"^ *Job \d+: \w+ makes (.+) \(", plan, re.M):  # a rule with a message
        yield from line.split(" ")
