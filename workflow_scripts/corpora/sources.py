"""Where running text comes from: an installed package, local files or the hub."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.packages import path_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_at
from workflow_scripts.corpora.articles import ENDINGS, FORMATS, Article, Paragraph


def articles(source: dict[str, Any]) -> Iterator[Article]:
    """The articles of a text source of the config, in its order."""
    form = source.get("format", "auto")
    if "hub" in source:
        yield from _from_hub(source, form)
        return
    for path in files(source):
        yield from articles_of_file(path, form)


def files(source: dict[str, Any]) -> list[Path]:
    """The files of a local source: one, or those below a directory."""
    return files_at(path_of(source), ENDINGS)


def articles_of_file(path: Path, form: str) -> Iterator[Article]:
    """The articles of one file; `auto` looks at its name and its headings."""
    if form == "auto":
        form = next(name for name, each in FORMATS.items() if each.matches(path))
    return FORMATS[form].read(path)


def _from_hub(source: dict[str, Any], form: str) -> Iterator[Article]:
    """Rows with a title are articles; rows without one are the lines of a WikiText file."""
    rows = load_rows(source)
    first = next(rows, None)
    if first is None:
        return
    rows = chain([first], rows)
    label = f"{source['hub']}/{source.get('split', 'train')}"
    columns = ("title", "text") if "title" in first else ("text",)
    rows = _with_strings(rows, columns, label)
    if "title" in first:
        for row in rows:
            lines = [line.strip() for line in row["text"].split("\n") if line.strip()]
            prefix = f"{label}: {row['title']}, paragraph"
            paragraphs = [Paragraph(line, f"{prefix} {k}") for k, line in enumerate(lines, 1)]
            yield Article(row["title"], paragraphs)
        return
    lines = ((f"{label}:{number}", row["text"].rstrip("\n")) for number, row in enumerate(rows, 1))
    yield from FORMATS["wikitext" if form == "auto" else form].of_lines(lines)


def _with_strings(
    rows: Iterator[dict[str, Any]], columns: tuple[str, ...], label: str
) -> Iterator[dict[str, Any]]:
    """The rows. Raises InputError at one in which a column holds no string."""
    for number, row in enumerate(rows, 1):
        for column in columns:
            if not isinstance(row[column], str):
                raise InputError(f"{label}:{number}: {column} holds no text; fix the dataset")
        yield row
