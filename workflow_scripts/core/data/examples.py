"""Examples: the texts that a model reads, one JSON object per line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workflow_scripts.core.data.records import read_records, write_records

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """One input of a model: one text, or two that are separated by [SEP].

    `source` is, for people, where the text comes from ("file:line"). `words` are the words of each
    text as character spans; without them the tokenizer's own words are used.
    """

    id: str
    document: str
    source: str
    texts: tuple[str, ...]
    words: tuple[Spans, ...] | None = None


class Annotated(Protocol):
    """The words of an annotated text, such as those of a tree."""

    @property
    def id(self) -> str: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...


def to_example(annotated: Annotated, document: str) -> Example:
    """An annotated text as a model's input: its words, joined by single spaces."""
    return Example(
        annotated.id,
        document=document,
        source=annotated.source,
        texts=(" ".join(annotated.words),),
        words=(spans_of(annotated.words),),
    )


def spans_of(words: Sequence[str]) -> Spans:
    """Character spans of words that are joined by single spaces."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return tuple(spans)


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write one JSON object per line, UTF-8."""
    write_records(path, examples)


def read_examples(path: Path) -> list[Example]:
    """The examples of a corpus file. Raises InputError, with the line, if it is damaged."""
    return read_records(path, Example, "an example")
