"""A page and a LaTeX file for each printed table, next to its CSV file.

A page needs nothing else: it sorts, filters, and saves itself.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tables import FROM_0
from workflow_scripts.core.run import job
from workflow_scripts.core.run.files import json_in_script, script_digest
from workflow_scripts.core.run.job import Out
from workflow_scripts.report.entries import caption, caption_html

SOURCES = Path(__file__).parent / "page"
LONG = 40  # rows from which a LaTeX table may be cut at the end of a page
WIDE = 40  # characters from which a column's lines are broken
SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}"}
    | {"−": "$-$", "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\rightarrow$"}
)
YES_NO = {"True": "yes", "False": "no"}


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


def table_page(frame: pd.DataFrame, **about: Any) -> Page:
    """The page of a printed table whose cells are text; `about` are the other fields of a Page."""
    shown = readable(frame)
    columns = [
        Column(
            name=str(name),
            title=str(name).replace("_", " "),
            number=is_number(frame[name].tolist()),
            width="wide" if frame[name].str.len().max() > WIDE else "",
        )
        for name in frame
    ]
    rows = [
        [Cell(text, sort=raw) for text, raw in zip(words, values, strict=True)]
        for words, values in zip(shown.to_numpy(), frame.to_numpy(), strict=True)
    ]
    return Page(columns=columns, rows=rows, **about)


def template(name: str) -> Any:
    """The template of a page, which escapes all that is put into it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(SOURCES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(name)


def render(page: Page) -> str:
    """The page as one HTML file, whose content policy forbids every request."""
    script = "\n" + (SOURCES / "table.js").read_text(encoding="utf-8")
    return template("table.html").render(
        page=page,
        script=script,
        script_digest=script_digest(script),
        style=(SOURCES / "table.css").read_text(encoding="utf-8"),
        files=json_in_script(page.files),
    )


def read_texts(path: Path) -> pd.DataFrame:
    """A CSV table with every cell as it is written."""
    return tables.read_csv(path, dtype=str).fillna("")


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, every cell as it stands there."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_number(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, and nothing else apart from empty cells."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_number(cell) is not None for cell in filled)


def rounded(cells: Sequence[str]) -> list[str]:
    """A column of numbers with the same number of decimals, about four digits of the largest.

    No decimals are added to those written. A small number that would become 0 keeps two digits.
    """
    numbers = [_number(cell) for cell in cells]
    decimals = (6 if "e" in cell.lower() else len(cell.partition(".")[2]) for cell in cells)
    written = max(decimals, default=0)
    largest = max((abs(number) for number in numbers if number is not None), default=0.0)
    if written == 0:
        return list(cells)
    wanted = 3 - math.floor(math.log10(largest)) if largest else 1
    shown = min(written, max(1, min(wanted, 4)))
    return [_round(number, shown) for number in numbers]


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The table for people: rounded numbers, and yes and no."""
    shown = frame.copy()
    for name in frame:
        cells = frame[name].tolist()
        words = [YES_NO.get(cell, cell) for cell in cells]
        shown[name] = rounded(cells) if is_number(cells) else words
    return shown


def latex_table(frame: pd.DataFrame, title: str, label: str) -> str:
    """The table in LaTeX, for the packages booktabs and, where it is long, longtable.

    All cells of `frame` are text. Columns of numbers are set to the right.
    """
    columns = "".join(_alignment(frame[name].tolist()) for name in frame)
    long = len(frame) > LONG
    shown = frame.rename(columns=lambda name: str(name).replace("_", " "))
    style = shown.style.hide(axis="index").format(_cell).format_index(escaped, axis="columns")
    text = style.to_latex(
        hrules=True,
        column_format=columns,
        caption=escaped(title),
        label=f"tab:{label}",
        environment="longtable" if long else None,
        position_float=None if long else "centering",
    )
    packages = "\\usepackage{booktabs,longtable}" if long else "\\usepackage{booktabs}"
    return f"% Needs {packages}\n{text}"


def _alignment(cells: Sequence[str]) -> str:
    if is_number(cells):
        return "r"
    return "p{5cm}" if max(map(len, cells), default=0) > WIDE else "l"


def escaped(text: str) -> str:
    """Text with all characters escaped that mean something to LaTeX.

    Brackets too: at the beginning of a row they would be read as an argument of the row's end.
    """
    return text.translate(SPECIAL)


def _cell(text: str) -> str:
    """An escaped cell; the minus of a number is no hyphen."""
    minus = text.startswith("-") and _number(text) is not None
    return f"$-${escaped(text[1:])}" if minus else escaped(text)


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _round(number: float | None, decimals: int) -> str:
    if number is None:
        return ""
    text = f"{number:.{decimals}f}"
    return f"{number:.1e}" if number and float(text) == 0 else text


def with_report(namespace: dict[str, Any]) -> dict[str, Any]:
    """The namespace of a script whose `main` may ask for two more things of Snakemake.

    `config` is the study's config. `report_href` gives the address of a product from another's page
    in the report; a `main` that asks for it has None as its default, for runs from a shell.
    """
    snakemake = namespace.get("snakemake")
    if snakemake is None:
        return namespace
    more = {"config": snakemake.config, "report_href": snakemake.report_href}
    job = SimpleNamespace(
        input=snakemake.input,
        output=snakemake.output,
        params=dict(snakemake.params.items()) | more,
        threads=snakemake.threads,
        log=snakemake.log,
    )
    return namespace | {"snakemake": job}


def main(
    tables: list[Path],
    captions_of: list[Path],
    pages_of: list[Out],
    latex_of: list[Out],
    headings: list[str],
    config: dict,
) -> None:
    """Write all pages; `headings` are the tables' titles, `captions_of` the captions' files."""
    every = zip(tables, captions_of, headings, pages_of, latex_of, strict=True)
    for table, path, heading, page, latex in every:
        frame = read_texts(table).drop(columns=FROM_0, errors="ignore")
        text = latex_table(readable(frame), heading, table.stem)
        shown = table_page(
            frame,
            title=heading,
            study=config["study"],
            caption=caption_html(caption(path, config)),
            name=table.stem,
            files={"csv": table.read_text(encoding="utf-8"), "tex": text},
        )
        page.write_text(render(shown), encoding="utf-8")
        latex.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    job.run(main, with_report(globals()))
