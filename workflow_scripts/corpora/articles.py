"""Articles from running text, tables with a column of texts, and treebanks: see FORMATS."""

import bz2
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

from workflow_scripts.core.data.text_files import read_lines, read_objects, read_table
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.corpora.tree_files import EXTRA, NEWDOC, columns_of

HEADING = re.compile(r"^ ?(=(?: =)*) (?!=)(.+?) \1 ?$")
TEMPLATES = [
    (
        re.compile(r"\{\{\s*+(?:convert|cvt)\s*+\|\s*+([^|{}]++)\|\s*+([^|{}]++)[^{}]*+\}\}", re.I),
        r"\1 \2",
    ),
    (
        re.compile(r"\{\{\s*+lang(?:-[a-z]+)?\s*+\|(?:[a-z-]+\|)?\s*+([^|{}]++)[^{}]*+\}\}", re.I),
        r"\1",
    ),
    (
        re.compile(
            r"\{\{\s*+(?:nowrap|nobr|small|IAST|transl\|[^|{}]++)\s*+\|([^|{}]++)\}\}", re.I
        ),
        r"\1",
    ),
]
LEFTOVERS = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?[a-z]+|\||__[A-Z]+__|^\w+:\S*\.(?:jpe?g|png|svg)", re.I
)
SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f]\W*$")
CONLLU_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
Line = tuple[str, str]  # where it stands ("file:line"), and its text
Row = tuple[int, Mapping[str, Any]]  # the number of its line, and values by column


@dataclass(frozen=True)
class Paragraph:
    """A paragraph and where it comes from, for people ("file:line")."""

    text: str
    source: str


@dataclass
class Article:
    """An article; `left_out` counts lines that are not paragraphs (headings, lists, tables).

    Intervals resample articles by their `title`: those of one title are one article to them.
    """

    title: str
    paragraphs: list[Paragraph] = field(default_factory=list)
    left_out: int = 0


def articles_of_lines(lines: Iterable[Line], form: str) -> Iterator[Article]:
    """Articles from (source, line) pairs in the form `plain` or `wikitext`.

    Plain: one paragraph per line, blank lines between documents, whose titles are the file's name
    and the line where they start. WikiText: a heading of the first level starts an article.
    """
    current: Article | None = None
    for source, line in lines:
        text = _text_of(source, line)
        heading = HEADING.match(line) if form == "wikitext" else None
        starts = heading is not None and heading.group(1) == "="
        ends = form == "plain" and not text
        if current is not None and (starts or ends):
            yield current
            current = None
        if ends or not text:
            continue
        if current is None:
            current = Article(heading.group(2) if heading else Path(source).name)
        if heading:
            current.left_out += 1
        else:
            if form == "wikitext":  # marks joined hyphens, commas and points as ` @-@ `
                text = re.sub(r" @([-,.])@ ", r"\1", text)
            current.paragraphs.append(Paragraph(text, source))
    if current is not None:
        yield current


def _text_of(source: str, line: str) -> str:
    text = line.strip()
    if "\r" in text:
        raise InputError(
            f"{source}: a carriage return within the line; convert the file's line ends to LF"
        )
    return text


def articles_of_prose(path: Path) -> Iterator[Article]:
    """A file as one article: blank lines between its paragraphs, which may have several lines."""
    article = Article(f"{path.parent.name}/{path.name}")
    for blank, lines in groupby(read_lines(path), lambda line: not line[1].strip()):
        if not blank:
            places, texts = zip(*((f"{path}:{n}", line) for n, line in lines), strict=True)
            article.paragraphs.append(Paragraph(" ".join(map(_text_of, places, texts)), places[0]))
    if article.paragraphs:
        yield article


def is_prose(path: Path) -> bool:
    """Whether blank lines in a text file end paragraphs, not documents.

    They do unless most of the lines that another one follows directly end a sentence.
    """
    lines = [line.strip() for _, line in read_lines(path)]
    followed = [line for line, following in pairwise(lines) if line and following]
    ends = sum(SENTENCE_END.search(line) is not None for line in followed)
    return "" in lines and 2 * ends <= len(followed)


def article_of_row(where: str, row: Mapping[str, Any], column: str) -> Article:
    """A row of a table as an article, by its column `title` or where it stands.

    Raises InputError where it has no `column`, or another value there than a text or none.
    """
    if column not in row:
        names = ", ".join(map(str, row))
        raise InputError(f"{where}: no column {column!r}; set column of this corpus, to: {names}")
    text, title = row[column] or "", row.get("title")
    if not isinstance(text, str):
        raise InputError(f"{where}: {column} holds no text; set column of this corpus to one")
    text = text.encode(errors="replace").decode()  # half a character, as of a tweet that is cut
    name = title.strip() if isinstance(title, str) else ""
    paragraphs = [Paragraph(line.strip(), where) for line in text.splitlines() if line.strip()]
    return Article(name or Path(where).name, paragraphs)


def rows_of_parquet(path: Path) -> Iterator[Row]:
    """The rows of a Parquet file, counted from 1. Raises InputError where it cannot be read."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            batches = (batch.to_pylist() for batch in file.iter_batches(1000))
            yield from enumerate(chain.from_iterable(batches), 1)
    except (ArrowException, OSError) as error:
        raise InputError(
            f"{path}: not a complete Parquet file ({one_line(error)}); copy it again"
        ) from error


def articles_of_table(
    path: Path, column: str, rows_of: Callable[[Path], Iterator[Row]]
) -> Iterator[Article]:
    """An article for each row of a file that `rows_of` reads."""
    for number, row in rows_of(path):
        yield article_of_row(f"{path}:{number}", row, column)


def articles_of_conllu(path: Path) -> Iterator[Article]:
    """A treebank's documents, a paragraph a sentence: its `# text`, else its words.

    Raises InputError for a line without the ten columns.
    """
    article, text, first, words = Article(path.name), "", "", []
    for number, line in chain(read_lines(path), [(0, "")]):
        if not line.strip():
            if words:
                article.paragraphs.append(Paragraph(text or " ".join(words), first))
            text, first, words = "", "", []
        elif line.startswith("#"):
            if match := NEWDOC.match(line):
                if article.paragraphs:
                    yield article
                article = Article(match[1] or f"{article.title}'")
            elif match := CONLLU_TEXT.match(line):
                text = match[1].strip()
        else:
            word = columns_of(path, number, line, "conllu")[1]
            words += [] if EXTRA.match(line) else [word]
            first = first or f"{path}:{number}"
    if article.paragraphs:
        yield article


def has_headings(path: Path) -> bool:
    """Whether a text file has WikiText's ` = Heading = ` lines."""
    return any(HEADING.match(line) and line.startswith(" ") for _, line in read_lines(path))


def articles_of_dump(path: Path) -> Iterator[Article]:
    """Articles of the main namespace of a MediaWiki XML dump (.xml or .xml.bz2), as text.

    Parsed by gensim; redirects are left out. Raises InputError for a broken file.
    """
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki

    try:
        with bz2.open(path, "rb") if path.suffix == ".bz2" else path.open("rb") as file:
            for title, markup, _ in extract_pages(file, filter_namespaces=("0",)):
                if not markup or markup.lstrip().lower().startswith("#redirect"):
                    continue
                for template, replacement in TEMPLATES:
                    markup = template.sub(replacement, markup)
                text = filter_wiki(markup, promote_remaining=True, simplify_links=True)
                yield _article_of_markup(title, text, path)
    except ParseError as error:
        raise InputError(
            f"{path}:{error.position[0]}: not well-formed XML ({error}); download the file again"
        ) from error
    except (EOFError, OSError, LookupError, AttributeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{path}: not a complete MediaWiki dump ({error}); download the file again"
        ) from error


def _article_of_markup(title: str, text: str, path: Path) -> Article:
    article = Article(title)
    for line in text.split("\n"):
        clean = clean_markup(line)
        if clean:
            source = f"{path.name}: {title}, paragraph {len(article.paragraphs) + 1}"
            article.paragraphs.append(Paragraph(clean, source))
        elif line.strip():
            article.left_out += 1
    return article


def clean_markup(line: str) -> str:
    """A line of filtered markup as text; empty for headings, list items, tables and leftovers."""
    line = line.strip().lstrip(":").strip()
    if not line or line[0] in "=*#;|!{}" or LEFTOVERS.search(line):
        return ""
    line = html.unescape(re.sub(r"'{2,}", "", line))
    line = re.sub(r"\([,;:\s]*+\)|\[\s*+\]", "", line)
    line = re.sub(r"\(\s*+[,;:]\s*+", "(", line)
    line = re.sub(r"(?<!\s)\s++([,.;:)])", r"\1", line)
    return re.sub(r"\s+", " ", line).strip()


def articles_of_text(path: Path, form: str) -> Iterator[Article]:
    """`articles_of_lines` of a file."""
    lines = ((f"{path}:{number}", line) for number, line in read_lines(path))
    return articles_of_lines(lines, form)


class TextFormat(NamedTuple):
    """A format of running text: its files' `endings`, and how one is read.

    Where a study sets no format, a file has the first of FORMATS that it `matches`. A file that is
    a `table` is read by its path and the name of a column.
    """

    endings: tuple[str, ...]
    matches: Callable[[Path], bool]
    read: Callable[..., Iterator[Article]]
    table: bool = False


def format_of(path: Path) -> str:
    """The name in FORMATS of a file's format, by the file's name or what it holds."""
    return next(name for name, form in FORMATS.items() if form.matches(path))


def _is_dump(path: Path) -> bool:
    return path.suffix == ".bz2" or ".xml" in path.name


def _ending(*endings: str) -> Callable[[Path], bool]:
    """Whether a file's name has one of the endings, perhaps before .gz."""
    return lambda path: not set(endings).isdisjoint(path.suffixes)


def _table(ending: str, *others: str, rows_of: Callable[[Path], Iterator[Row]]) -> TextFormat:
    read = partial(articles_of_table, rows_of=rows_of)
    return TextFormat((ending,), _ending(ending, *others), read, table=True)


FORMATS = {
    "csv": _table(".csv", rows_of=read_table),
    "tsv": _table(".tsv", rows_of=partial(read_table, quoted=False)),
    "jsonl": _table(".jsonl", ".json", ".ndjson", rows_of=read_objects),
    "parquet": _table(".parquet", rows_of=rows_of_parquet),
    "conllu": TextFormat((".conllu",), _ending(".conllu"), articles_of_conllu),
    "mediawiki": TextFormat((".xml", ".bz2"), _is_dump, articles_of_dump),
    "wikitext": TextFormat(
        (".raw", ".tokens"), has_headings, partial(articles_of_text, form="wikitext")
    ),
    "prose": TextFormat((), is_prose, articles_of_prose),
    "plain": TextFormat((".txt",), lambda path: True, partial(articles_of_text, form="plain")),
}
ENDINGS = tuple(ending for each in FORMATS.values() for ending in each.endings)
