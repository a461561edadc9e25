"""A table as a page that needs nothing else: it sorts, filters, and saves itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data.inline import as_script, digest
from workflow_scripts.report import printed

SOURCES = Path(__file__).parent / "page"
# Verdicts on claims, in order, with the names of their colours.
BADGES = {
    "reproduced": "good",
    "holds here": "good",
    "same direction": "fair",
    "does not hold here": "bad",
    "not reproduced": "bad",
    "cannot tell": "open",
    "not comparable": "none",
    "not measured": "none",
}
# What stands in a verdict's place where there is none.
VERDICTLESS = ("not comparable", "not measured")


@dataclass(frozen=True)
class Link:
    """A link from a cell to another product of the study, in the report and next to the page."""

    text: str
    path: str  # of the product, as the report knows it
    relative: str  # from the page's folder
    report: str = ""  # from the page's folder in an unpacked report; empty outside of Snakemake
    fragment: str = ""  # the view of the atlas
    menu: str = ""  # the entry of the report's menu that shows it


@dataclass(frozen=True)
class Cell:
    """What stands in a cell; `sort` is what it is sorted by, where that is something else."""

    text: str = ""
    sort: str = ""
    note: str = ""  # small print below
    badge: str = ""  # the name of a colour
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column: its name in the file, its words, and whether it holds numbers."""

    name: str
    title: str
    number: bool = False
    facet: bool = False  # rows can be chosen and grouped by its values
    width: str = ""  # wide or narrow: its lines are broken


@dataclass(frozen=True)
class Page:
    """A table with all that its page shows."""

    title: str
    study: str
    caption: str  # HTML
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    name: str  # of the files that the page saves
    files: dict[str, str] = field(default_factory=dict)  # their text by ending
    grouped: str = ""  # the column by whose values the rows are grouped at first


def of_table(frame: pd.DataFrame, **about: Any) -> Page:
    """The page of a printed table whose cells are text; `about` are the other fields of a Page."""
    shown = printed.readable(frame)
    columns = [
        Column(
            name=str(name),
            title=str(name).replace("_", " "),
            number=printed.is_number(frame[name].tolist()),
            width="wide" if frame[name].str.len().max() > printed.WIDE else "",
        )
        for name in frame
    ]
    rows = [
        [Cell(text, sort=raw) for text, raw in zip(words, values, strict=True)]
        for words, values in zip(shown.to_numpy(), frame.to_numpy(), strict=True)
    ]
    return Page(columns=columns, rows=rows, **about)


def template(name: str, sources: Path = SOURCES) -> Any:
    """The template of a page, which escapes all that is put into it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(sources),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(name)


def render(page: Page, sources: Path = SOURCES) -> str:
    """The page as one HTML file, whose content policy forbids every request."""
    script = "\n" + (sources / "table.js").read_text(encoding="utf-8")
    return template("table.html", sources).render(
        page=page,
        script=script,
        script_digest=digest(script),
        style=(sources / "table.css").read_text(encoding="utf-8"),
        files=as_script(page.files),
    )
