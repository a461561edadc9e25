"""Write what pages list of papers, chapters and measures of heads: `make docs`."""

import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from workflow_scripts.chapters import CHAPTERS, REFERENCES, collect
from workflow_scripts.core.run import prerequisites

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "rules/schemas"
README, INDEX = ROOT / "README.md", ROOT / "docs/chapters/README.md"
CITATION, ATLAS = ROOT / "CITATION.cff", ROOT / "docs/atlas.md"


def papers() -> list[str]:
    """A line for each paper."""
    return [f"* {paper.cited}, *{paper.title}*" for paper in REFERENCES.values()]


def references() -> list[str]:
    """The papers in the Citation File Format."""
    found = []
    for paper in REFERENCES.values():
        names = [author.split(", ") for author in paper.authors.split("; ")]
        about = {"type": paper.kind, "title": paper.title, "year": paper.year}
        about["authors"] = [{"family-names": last, "given-names": first} for last, first in names]
        about["collection-title"] = paper.collection
        about |= dict(zip(("start", "end"), paper.pages or (), strict=False))
        found.append(about)
    text = yaml.safe_dump(found, sort_keys=False, default_flow_style=None, allow_unicode=True)
    return [f"  {line}" for line in text.splitlines()]


def chapters() -> list[str]:
    """A table of the chapters, with the models that each reads and what its page asks."""
    rows = ["| chapter | reads | asks |", "| --- | --- | --- |"]
    for chapter in CHAPTERS:
        page = (INDEX.parent / f"{chapter}.md").read_text(encoding="utf-8")
        asks = re.search(r"^\*\*Asks\*\* (.*?)\n\n", page, re.M | re.S)
        reads = prerequisites.reads(chapter, SCHEMAS)
        rows.append(f"| [{chapter}]({chapter}.md) | {reads} | {' '.join(asks[1].split())} |")
    return rows


def measures() -> list[str]:
    """A table of the measures of the atlas, as the chapters declare them."""
    rows = ["| ids | a head's number | table |", "| --- | --- | --- |"]
    for chapter in collect("measures").values():
        for table in (each for each in chapter.TABLES if each.ids):
            ids = ", ".join(f"`{name}`" for name in table.ids)
            about = table.about.replace("|", "\\|")
            rows.append(f"| {ids} | {about} | `{table.file}` |")
    return rows


def replaced(page: Path, lines: Iterable[str]) -> str:
    """The page with these lines between its two comments."""
    text = page.read_text(encoding="utf-8")
    begin, end = re.findall(r"^ *(?:<!--|#) (?:Written by `make docs`|End)\..*\n", text, re.M)
    before, _, rest = text.partition(begin)
    return before + begin + "\n".join(["", *lines, "", ""]) + end + rest.partition(end)[2]


PAGES = {README: papers, CITATION: references, INDEX: chapters, ATLAS: measures}

if __name__ == "__main__":
    for page, lines in PAGES.items():
        page.write_text(replaced(page, lines()), encoding="utf-8")
