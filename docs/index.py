"""Write the list of papers in README.md and that of chapters in docs/chapters/: `make docs`."""

import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from workflow_scripts.chapters import CHAPTERS, PAPERS

ROOT = Path(__file__).parents[1]
README, INDEX = ROOT / "README.md", ROOT / "docs/chapters/README.md"


def papers() -> list[str]:
    """A line for each paper, with its title from CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    titles = {
        f"{each['authors'][0]['family-names'].lower()}{each['year']}": each["title"]
        for each in citation["references"]
    }
    return [f"* {words}, *{titles[name]}*" for name, words in PAPERS.items()]


def chapters() -> list[str]:
    """A table of the chapters, with what the page of each asks."""
    rows = ["| chapter | asks |", "| --- | --- |"]
    for chapter in CHAPTERS:
        page = (INDEX.parent / f"{chapter}.md").read_text(encoding="utf-8")
        asks = re.search(r"^\*\*Asks\*\* (.*?)\n\n", page, re.M | re.S)
        rows.append(f"| [{chapter}]({chapter}.md) | {' '.join(asks[1].split())} |")
    return rows


def replaced(page: Path, lines: Iterable[str]) -> str:
    """The page with these lines between its two comments."""
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- Written by `make docs`. -->\n", "\n<!-- End. -->"
    before, _, rest = text.partition(begin)
    return before + begin + "\n".join(["", *lines, ""]) + end + rest.partition(end)[2]


PAGES = {README: papers, INDEX: chapters}

if __name__ == "__main__":
    for page, lines in PAGES.items():
        page.write_text(replaced(page, lines()), encoding="utf-8")
