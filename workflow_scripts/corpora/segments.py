"""Running text as segments of two consecutive paragraphs (Clark et al. 2019, section 3)."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.sources import load_rows, path_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.files import files_at
from workflow_scripts.corpora.articles import (
    ENDINGS,
    FORMATS,
    Article,
    Paragraph,
    articles_of_lines,
)


def articles(source: dict[str, Any]) -> Iterator[Article]:
    """The articles of a text source of the config, in its order."""
    form = source.get("format", "auto")
    if "hub" in source:
        yield from _from_hub(source, form)
    else:
        for path in files_at(path_of(source), ENDINGS):
            yield from articles_of_file(path, form)


def articles_of_file(path: Path, form: str) -> Iterator[Article]:
    """The articles of one file; `auto` looks at its name and its headings."""
    if form == "auto":
        form = next(name for name, each in FORMATS.items() if each.matches(path))
    return FORMATS[form].read(path)


def _from_hub(source: dict[str, Any], form: str) -> Iterator[Article]:
    """Rows with a title are articles; rows without one are the lines of a WikiText file."""
    label = f"{source['hub']}/{source.get('split', 'train')}"
    lines = []
    for number, row in enumerate(load_rows(source), 1):
        for column in {"title", "text"} & row.keys():
            if not isinstance(row[column], str):
                raise InputError(f"{label}:{number}: {column} holds no text; fix the dataset")
        if "title" in row:
            texts = [line.strip() for line in row["text"].split("\n") if line.strip()]
            prefix = f"{label}: {row['title']}, paragraph"
            paragraphs = [Paragraph(text, f"{prefix} {k}") for k, text in enumerate(texts, 1)]
            yield Article(row["title"], paragraphs)
        else:
            lines.append((f"{label}:{number}", row["text"].rstrip("\n")))
    yield from articles_of_lines(lines, "wikitext" if form == "auto" else form)


Pair = tuple[str, Paragraph, Paragraph]


def pair_up(article: Article, min_words: int, counts: Counter) -> list[Pair]:
    """Pairs of consecutive paragraphs of at least `min_words` words; none is in two pairs.

    A shorter paragraph separates its neighbours; a heading, list or table does not. What is read
    and left out is added to `counts`.
    """
    pairs: list[Pair] = []
    short = [len(paragraph.text.split()) < min_words for paragraph in article.paragraphs]
    k = 0
    while k + 1 < len(short):
        fits = not any(short[k : k + 2])
        if fits:
            pairs.append((article.title, *article.paragraphs[k : k + 2]))
        k += 1 + fits
    counts["lines that are no paragraph"] += article.left_out
    counts["paragraphs read"] += len(short)
    counts["paragraphs too short"] += sum(short)
    counts["paragraphs without a partner"] += short.count(False) - 2 * len(pairs)
    counts["pairs"] += len(pairs)
    counts["articles read"] += 1
    counts["articles without a pair"] += not pairs
    return pairs


def divide(
    pairs: Sequence[Sequence[Pair]], n_segments: int, training_share: float, seed: int
) -> tuple[list[Pair], list[Pair]]:
    """Pairs to analyse and pairs to train on, from different articles, in corpus order.

    `pairs` has one entry per article. Articles are sampled by seed until the training part holds
    at least its share of all pairs; `n_segments` of the others' pairs are sampled.
    """
    rng = random.Random(seed)
    order = [index for index, article in enumerate(pairs) if article]
    rng.shuffle(order)
    wanted = training_share * sum(len(article) for article in pairs)
    training: set[int] = set()
    while len(training) < len(order) - 1 and sum(len(pairs[i]) for i in training) < wanted:
        training.add(order[len(training)])
    rest = [pair for i, article in enumerate(pairs) if i not in training for pair in article]
    analysed = tables.sample_by(rng, rest, n_segments)
    return list(analysed), [pair for i in sorted(training) for pair in pairs[i]]


def to_examples(pairs: Iterable[Pair], name: str) -> list[Example]:
    """The pairs as two-text examples, numbered."""
    return [
        Example(f"{name}-{number:05d}", title, first.source, (first.text, second.text))
        for number, (title, first, second) in enumerate(pairs)
    ]


def main(
    segments: job.Out,
    training: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    n_segments: int,
    min_words: int,
    training_share: float,
    seed: int = 1,
) -> None:
    """Write the segments to analyse, those to train on, and what was read and left out."""
    n: Counter[str] = Counter()
    pairs = [pair_up(article, min_words, n) for article in articles(source)]
    origin = source.get("path") or source.get("package") or source.get("hub")
    if not n["paragraphs read"]:
        raise InputError(f"{origin}: the corpus {name} is empty; use a text with paragraphs")
    if not n["pairs"]:
        raise InputError(
            f"{origin}: no article of the corpus {name} has two paragraphs of {min_words} words; "
            "lower min_words or check format"
        )
    analysed, trained = divide(pairs, n_segments, training_share, seed)
    n["pairs kept for training"] = len(trained)
    n["pairs not sampled"] = n["pairs"] - len(trained) - len(analysed)
    n["segments asked for"], n["segments analysed"] = n_segments, len(analysed)
    write_records(segments, to_examples(analysed, name))
    write_records(training, to_examples(trained, f"{name}-training"))
    tables.write_counts(n, counts)


if __name__ == "__main__":
    job.run(main, globals())
