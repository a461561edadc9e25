"""The page of the central claims: our number, the word for it, and links to what shows it."""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.chapters import SOURCES
from workflow_scripts.core.data import tables
from workflow_scripts.core.measures.shown_claims import BADGES, fragment
from workflow_scripts.core.run import job
from workflow_scripts.report import table_pages
from workflow_scripts.report.entries import caption, caption_html
from workflow_scripts.report.table_pages import Cell, Column, Link, Page

COLUMNS = (
    Column("statement", "claim", width="wide"),
    Column("case", "case", width="narrow"),
    Column("paper_value", "the paper's", number=True, width="narrow"),
    Column("ours", "ours", number=True, width="narrow"),
    Column("lies", "interval", facet=True, width="narrow"),
    Column("verdict", "verdict", facet=True, width="narrow"),
    Column("shown", "shown in", width="narrow"),
    Column("paper", "paper", facet=True, width="narrow"),
)


def named(path: Path) -> str:
    """What a link calls a product: Figure 2, Table 1, or the words of its name."""
    words = path.stem.partition("-")[2]
    kind = "table" if path.suffix == ".html" else "figure"
    if numbered := re.fullmatch(r"(fig|table)(\d+)", words):
        title = f"{'Figure' if numbered[1] == 'fig' else 'Table'} {numbered[2]}"
        return title if title.lower().startswith(kind) else f"{title} ({kind})"
    return f"{words.replace('-', ' ').capitalize()} ({kind})"


def number(row: Mapping[str, str]) -> str:
    """Our number with its interval, where it has one."""
    names = ("ours", "ci_low", "ci_high")
    ours, low, high = (f"{float(row[name]):.4g}" if row[name] else "" for name in names)
    return f"{ours} ({low} to {high})" if low != high else ours


def untrained_range(row: Mapping[str, str]) -> str:
    """The numbers of the model's untrained copies, in words."""
    low, high = (row.get(f"untrained_{end}") for end in ("low", "high"))
    return f"untrained copies: {float(low):.4g} to {float(high):.4g}" if low and high else ""


def cells(row: Mapping[str, str], links: tuple[Link, ...]) -> list[Cell]:
    """One line of the page."""
    note = " · ".join(filter(None, (row["place"], row["id"], row["later"])))
    n = f"n = {row['n']} {row['n_of']}" if row["n"] else ""
    interval = f"interval: {row['interval']}" if row["interval"] else ""
    seeds = "one seed" if row["seeds"] == "1" else ""
    power = f"power {float(row['power']):.2f}" if row["power"] else ""
    untrained = untrained_range(row)
    parts = row["unit"], n, seeds, interval, power, untrained, row["about"]
    about = " · ".join(filter(None, parts))
    return [
        Cell(row["statement"], row["statement"], note),
        Cell(row["case"], row["case"]),
        Cell(row["paper_value"], row["paper_value"], f"{row['paper_model']}, {row['rule']}"),
        Cell(number(row), row["ours"], about if row["ours"] else ""),
        Cell(row["lies"], row["lies"]),
        Cell(
            text=row["verdict"],
            sort=str(list(BADGES).index(row["verdict"])),
            note=row["because"],
            badge=BADGES[row["verdict"]],
        ),
        Cell(links=links),
        Cell(row["paper"], row["paper"], SOURCES[row["source"]]),
    ]


def main(
    claims: Path,
    cases: Path,
    published: list[Path],
    products: list[Path],
    caption_of: Path,
    page: job.Out,
    latex: job.Out,
    model: str,
    heading: str,
    page_path: str,
    config: dict,
    atlas: Path | None = None,
    atlas_page: Path | None = None,
    report_href: Callable[[str], Any] | None = None,
) -> None:
    """Write the page of a model's claims; `products` are the figures and pages it may link to.

    Links start from `page_path`, where the study has the page.
    """
    frame = table_pages.read_texts(claims)
    behind = {row["id"]: row for path in published for row in table_pages.read_rows(path)}
    folder = Path(page_path).parent

    def link(text: str, product: Path, fragment: str, menu: str) -> Link:
        relative = Path(os.path.relpath(product, folder)).as_posix()
        report = str(report_href(str(product))) if report_href else ""
        return Link(text, str(product), relative, report, fragment, menu)

    measures = json.loads(atlas.read_text(encoding="utf-8"))["measures"] if atlas else []
    rows = []
    every = zip(frame.to_dict("records"), tables.read(cases).to_dict("records"), strict=True)
    for row, of in every:
        if not row["central"]:
            continue
        view = behind.get(row["id"], {}).get("view", "")
        links = [
            link(named(path), path, "", f"{row['paper']}, {named(path)}")
            for name in behind.get(row["id"], {}).get("shown", "").split()
            for path in products
            if path.stem == name
        ]
        if view and atlas_page and (address := fragment(view, of, model, measures)):
            links.append(link("Atlas", atlas_page, address, "Atlas"))
        rows.append(cells(row, tuple(links)))
    # What a LaTeX table has room for.
    central = frame[frame["central"] != ""]
    columns = ["id", "statement", "case", "paper_value", "ours", "lies", "verdict"]
    ours = [number(row) for row in central.to_dict("records")]
    printed = central[columns].assign(ours=ours)
    text = table_pages.latex_table(printed, heading, "claims")
    shown = Page(
        title=heading,
        study=f"{config['study']} · {model}",
        caption=caption_html(caption(caption_of, config)),
        columns=COLUMNS,
        rows=rows,
        name="claims",
        files={"csv": claims.read_text(encoding="utf-8"), "tex": text},
        grouped="paper",
    )
    page.write_text(table_pages.render(shown), encoding="utf-8")
    latex.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    job.run(main, table_pages.with_report(globals()))
