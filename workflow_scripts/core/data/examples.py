"""Examples: the texts that a model reads, one JSON object per line."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.data.records import read_records, write_records

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """One input of a model: one text, or two that are separated by [SEP].

    `source` tells people where the text comes from ("file:line"). `words` are the words of each
    text as character spans; without them the tokenizer's own words are used.
    """

    id: str
    document: str
    source: str
    texts: tuple[str, ...]
    words: tuple[Spans, ...] | None = None


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write one JSON object per line, UTF-8."""
    write_records(path, examples)


def read_examples(path: Path) -> list[Example]:
    """The examples of a corpus file. Raises InputError, with the line, if it is damaged."""
    return read_records(path, Example, "an example")
