"""A page and a LaTeX file for each printed table, next to its CSV file."""

from pathlib import Path

from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.report import captions, pages, printed
from workflow_scripts.report.context import with_report


def write(table: Path, caption: str, heading: str, study: str, page: Path, latex: Path) -> None:
    """Write the page and the LaTeX file of one table; `caption` is reStructuredText.

    Raises InputError where the table is damaged.
    """
    frame = printed.read(table)
    text = printed.latex(printed.readable(frame), heading, table.stem)
    shown = pages.of_table(
        frame,
        title=heading,
        study=study,
        caption=captions.to_html(caption),
        name=table.stem,
        files={"csv": table.read_text(encoding="utf-8"), "tex": text},
    )
    page.write_text(pages.render(shown), encoding="utf-8")
    latex.write_text(text, encoding="utf-8")


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
        write(table, captions.render(path, config), heading, config["study"], page, latex)


if __name__ == "__main__":
    job.run(main, with_report(globals()))
