"""Running text as segments: windows of consecutive sentences, or pairs of paragraphs.

Pairs of consecutive paragraphs are those of Clark et al. 2019, section 3.
"""

import logging
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import FEW_DOCUMENTS, Example, write_records
from workflow_scripts.core.data.text_files import CSV_QUOTED
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.files import files_at
from workflow_scripts.core.run.sources import load_rows, path_of
from workflow_scripts.corpora.articles import (
    ENDINGS,
    FORMATS,
    Article,
    Paragraph,
    article_of_row,
    articles_of_lines,
    format_of,
)

SPECIAL = 2  # tokens that most tokenizers add to a text
LETTERS = 6  # bytes of a word for each token, on average; docs/inputs.md states how well it fits
UNKNOWN = "<unk>"  # what a corpus has for rare words
PARTS = 20  # of a single document, for intervals
# Characters that are a token each: those of Chinese, Japanese and Korean, and punctuation.
CJK = r"\u2e80-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003fa1f"
MARKS = r"!-/:-@\[-`\x7b-~\u2010-\u205e"
PIECE = re.compile(rf"[{CJK}{MARKS}]|[^\s{CJK}{MARKS}]+")
UNIT = re.compile(rf"[{CJK}]|[^\s{CJK}]+")  # where a long sentence may be cut
SENTENCE = re.compile(
    r"(?=\S).*?(?:[.!?\u2026]++[^\w\s]*+(?=\s)|[\u3002\uff01\uff1f]+[^\w\s]*|$)", re.S
)
log = logging.getLogger(__name__)


def articles(source: dict[str, Any]) -> Iterator[Article]:
    """The articles of a text source of the config, in its order."""
    form, column = source.get("format", "auto"), source.get("column", "text")
    if "hub" in source:
        yield from _from_hub(source, form, column)
    else:
        root = path_of(source)
        for path in files_at(root, ENDINGS):
            folder = path.parent.relative_to(root if root.is_dir() else path.parent)
            for article in articles_of_file(path, form, column):
                # Files of one name in different folders are different documents.
                named = folder.parts and article.title.startswith(path.name)
                yield replace(article, title=f"{folder}/{article.title}") if named else article


def articles_of_file(path: Path, form: str, column: str = "text") -> Iterator[Article]:
    """The articles of one file; `auto` looks at its name and what it holds."""
    reader = FORMATS[format_of(path) if form == "auto" else form]
    return reader.read(path, column) if reader.table else reader.read(path)


def _from_hub(source: dict[str, Any], form: str, column: str) -> Iterator[Article]:
    """Rows are articles; in another format than auto, rows without a title are a file's lines."""
    label = f"{source['hub']}/{source.get('split', 'train')}"
    lines = []
    for number, row in enumerate(load_rows(source, (column,)), 1):
        article = article_of_row(f"{label}:{number}", row, column)
        if form == "auto" or "title" in row:
            yield article
        else:
            lines.append((f"{label}:{number}", (row[column] or "").rstrip("\n")))
    yield from articles_of_lines(lines, form)


Segment = tuple[str, tuple[Paragraph, ...]]  # the title of its article, and its texts


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has for a model of its language.

    A word has one for every LETTERS bytes in UTF-8, begun ones too; a CJK character or a
    punctuation mark is one.
    """
    return sum(-(-len(piece.encode()) // LETTERS) for piece in PIECE.findall(text))


def windows_of(article: Article, max_tokens: int, counts: Counter) -> list[Segment]:
    """Windows of whole consecutive sentences, of about `max_tokens` tokens at most.

    A longer sentence is cut between words. Lines and paragraphs end sentences; they are joined by
    blanks. What is read, and windows without a letter or digit, are added to `counts`.
    """
    size, room = max_tokens - SPECIAL, 0
    windows: list[list[Paragraph]] = []
    for part in (part for whole in article.paragraphs for part in _parts_of(whole, size)):
        needed = estimated_tokens(part.text)
        if needed > room:
            windows.append([])
            room = size
        windows[-1].append(part)
        room -= needed
    joined = [Paragraph(" ".join(p.text for p in parts), parts[0].source) for parts in windows]
    kept = [each for each in joined if any(map(str.isalnum, each.text))]
    _count_read(article, counts)
    counts["windows without a letter or digit"] += len(joined) - len(kept)
    counts["windows"] += len(kept)
    return [(article.title, (window,)) for window in kept]


def _count_read(article: Article, counts: Counter) -> None:
    counts["lines that are no paragraph"] += article.left_out
    counts["paragraphs read"] += len(article.paragraphs)
    counts["articles read"] += 1
    if quoted := sum(CSV_QUOTED.fullmatch(p.text) is not None for p in article.paragraphs):
        counts["paragraphs quoted as CSV, read as they are"] += quoted


def _parts_of(paragraph: Paragraph, size: int) -> Iterator[Paragraph]:
    """The sentences of a paragraph; of one of more than `size` tokens, pieces of whole words."""
    for sentence in SENTENCE.findall(paragraph.text):
        start, end, room = 0, 0, size
        if estimated_tokens(sentence) > size:
            for unit in UNIT.finditer(sentence):
                needed = estimated_tokens(unit.group())
                if needed > room and end > start:
                    yield Paragraph(sentence[start:end], paragraph.source)
                    start, room = unit.start(), size
                end, room = unit.end(), room - needed
        yield Paragraph(sentence[start:].rstrip(), paragraph.source)


def pair_up(article: Article, min_words: int, counts: Counter) -> list[Segment]:
    """Pairs of consecutive paragraphs of at least `min_words` words; none is in two pairs.

    A shorter paragraph separates its neighbours; a heading, list or table does not. What is read
    and left out is added to `counts`.
    """
    pairs: list[Segment] = []
    short = [len(paragraph.text.split()) < min_words for paragraph in article.paragraphs]
    k = 0
    while k + 1 < len(short):
        fits = not any(short[k : k + 2])
        if fits:
            pairs.append((article.title, tuple(article.paragraphs[k : k + 2])))
        k += 1 + fits
    _count_read(article, counts)
    counts["paragraphs too short"] += sum(short)
    counts["paragraphs without a partner"] += short.count(False) - 2 * len(pairs)
    counts["pairs"] += len(pairs)
    counts["articles without a pair"] += not pairs
    return pairs


def divide(
    segments: Sequence[Sequence[Segment]], n_segments: int, training_share: float, seed: int
) -> tuple[list[Segment], list[Segment]]:
    """Segments to analyse and segments to train on, from different articles, in corpus order.

    `segments` has one entry per article. Articles are sampled by seed until the training part holds
    at least its share of all segments; `n_segments` of the others' are sampled.
    """
    rng = random.Random(seed)
    order = [index for index, article in enumerate(segments) if article]
    rng.shuffle(order)
    wanted = training_share * sum(len(article) for article in segments)
    training: set[int] = set()
    while len(training) < len(order) - 1 and sum(len(segments[i]) for i in training) < wanted:
        training.add(order[len(training)])
    rest = [one for i, article in enumerate(segments) if i not in training for one in article]
    analysed = tables.sample_by(rng, rest, n_segments)
    return list(analysed), [one for i in sorted(training) for one in segments[i]]


def to_examples(segments: Iterable[Segment], name: str) -> list[Example]:
    """The segments as examples of one or two texts, numbered."""
    return [
        Example(f"{name}-{number:05d}", title, first.source, (first.text, *(p.text for p in rest)))
        for number, (title, (first, *rest)) in enumerate(segments)
    ]


def main(
    segments: job.Out,
    training: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    cut: str,
    n_segments: int,
    max_tokens: int,
    min_words: int,
    training_share: float,
    seed: int = 1,
) -> None:
    """Write the segments to analyse, those to train on, and what was read and left out.

    `cut` is windows or pairs. Intervals resample documents, so that of a single document PARTS of
    consecutive windows count as documents.
    """
    n: Counter[str] = Counter()
    origin = source.get("path") or source.get("package") or source.get("hub")
    if cut == "pairs":
        found = [pair_up(article, min_words, n) for article in articles(source)]
    else:
        found = [windows_of(article, max_tokens, n) for article in articles(source)]
    if not n["paragraphs read"]:
        raise InputError(f"{origin}: no text in the corpus {name}; use a file with text")
    if cut == "pairs" and not n["pairs"]:
        raise InputError(
            f"{origin}: no article of the corpus {name} has two paragraphs of {min_words} words; "
            "lower min_words, check format, or set segments: windows"
        )
    if cut == "windows" and n["windows"] < 2:
        what = "one window only, which has no interval," if n["windows"] else "no letter or digit"
        raise InputError(f"{origin}: {what} in the corpus {name}; use a longer text")
    documents = [article for article in found if article]
    # Of few documents, training windows are taken from all, not whole ones.
    if cut == "windows" and len(documents) < FEW_DOCUMENTS:
        found = [[window] for article in documents for window in article]
    analysed, trained = divide(found, n_segments, training_share, seed)
    n[f"{cut} kept for training"] = len(trained)
    n[f"{cut} not sampled"] = n[cut] - len(trained) - len(analysed)
    n["segments asked for"], n["segments analysed"] = n_segments, len(analysed)
    n["articles analysed"] = n_documents = len({title for title, _ in analysed})
    if n_documents < FEW_DOCUMENTS:
        log.warning(
            "%s: documents: %d; over fewer than %d, intervals are too narrow: give more texts",
            *(origin, n_documents, FEW_DOCUMENTS),
        )
    if cut == "windows" and n_documents == 1:
        size = -(-len(analysed) // PARTS)
        analysed = [(f"{t}, part {k // size + 1}", of) for k, (t, of) in enumerate(analysed)]
    examples = [*to_examples(analysed, name)]
    if unknown := sum(text.split().count(UNKNOWN) for one in examples for text in one.texts):
        n[f"words {UNKNOWN} analysed"] = unknown
        log.warning(
            "%s: words %s: %d, which stand for others, as in WikiText without raw; use raw files",
            *(origin, UNKNOWN, unknown),
        )
    write_records(segments, examples)
    write_records(training, to_examples(trained, f"{name}-training"))
    tables.write_counts(n, counts)


if __name__ == "__main__":
    job.run(main, globals())
