"""Articles from plain text, from WikiText files and from MediaWiki XML dumps: see FORMATS."""

import bz2
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import ParseError

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError

HEADING = re.compile(r"^ ?(=(?: =)*) (?!=)(.+?) \1 ?$")
TEMPLATES = [
    (
        re.compile(r"\{\{\s*(?:convert|cvt)\s*\|\s*([^|{}]+)\|\s*([^|{}]+)[^{}]*\}\}", re.I),
        r"\1 \2",
    ),
    (re.compile(r"\{\{\s*lang(?:-[a-z]+)?\s*\|(?:[a-z-]+\|)?\s*([^|{}]+)[^{}]*\}\}", re.I), r"\1"),
    (
        re.compile(r"\{\{\s*(?:nowrap|nobr|small|IAST|transl\|[^|{}]+)\s*\|([^|{}]+)\}\}", re.I),
        r"\1",
    ),
]
LEFTOVERS = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?[a-z]+|\||__[A-Z]+__|^\w+:\S*\.(?:jpe?g|png|svg)", re.I
)
Line = tuple[str, str]  # where it stands ("file:line"), and its text


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
        text = line.strip()
        if "\r" in text:
            raise InputError(
                f"{source}: a carriage return within the line; convert the file's line ends to LF"
            )
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
    line = re.sub(r"\(\s*[,;:\s]*\)|\[\s*\]", "", line)
    line = re.sub(r"\(\s*[,;:]\s*", "(", line)
    line = re.sub(r"\s+([,.;:)])", r"\1", line)
    return re.sub(r"\s+", " ", line).strip()


def articles_of_text(path: Path, form: str) -> Iterator[Article]:
    """`articles_of_lines` of a file."""
    lines = ((f"{path}:{number}", line) for number, line in read_lines(path))
    return articles_of_lines(lines, form)


class TextFormat(NamedTuple):
    """A format of running text: its files' `endings`, and how one is read.

    Where a study sets no format, a file has the first of FORMATS that it `matches`.
    """

    endings: tuple[str, ...]
    matches: Callable[[Path], bool]
    read: Callable[[Path], Iterator[Article]]


def _is_dump(path: Path) -> bool:
    return path.suffix == ".bz2" or ".xml" in path.name


FORMATS = {
    "mediawiki": TextFormat((".xml", ".bz2"), _is_dump, articles_of_dump),
    "wikitext": TextFormat(
        (".raw", ".tokens"), has_headings, partial(articles_of_text, form="wikitext")
    ),
    "plain": TextFormat((".txt",), lambda path: True, partial(articles_of_text, form="plain")),
}
ENDINGS = tuple(ending for each in FORMATS.values() for ending in each.endings)
