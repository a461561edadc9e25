"""What the documentation refers to exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "config/README.md"])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(prose(page)) if not link.startswith("http")]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a relative link names a file, and one with an anchor a heading of its page."""
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    headings = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE) if anchor else []
    # As GitHub makes the anchors of headings.
    slugs = [re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in headings]
    return not anchor or anchor in slugs
