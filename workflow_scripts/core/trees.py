"""Dependency trees of a corpus, beside its examples: one JSON object a line, in the same order."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.examples import Example

ROOT = -1


@dataclass(frozen=True)
class Tree:
    """A sentence's words and their heads: `heads` has word indices from 0, and -1 for the root.

    `relations` and `tags` are empty strings where the treebank has none.
    """

    id: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    source: str


def to_example(tree: Tree, document: str) -> Example:
    """The sentence as a model's input: its words, joined by single spaces."""
    return Example(tree.id, document, tree.source, (" ".join(tree.words),), (spans_of(tree.words),))


def is_mark(word: str, relation: str) -> bool:
    """Punctuation: by its label, or without labels by its characters."""
    return relation == "punct" or (not relation and not any(c.isalnum() for c in word))


def spans_of(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Character spans of words joined by single spaces."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return tuple(spans)


def write_trees(path: Path, trees: Iterable[Tree]) -> None:
    """Write one JSON object a line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for tree in trees:
            file.write(json.dumps(asdict(tree), ensure_ascii=False) + "\n")


def read_trees(path: Path) -> list[Tree]:
    """The trees of an annotation file. Raises InputError, with the line, where it is damaged."""
    trees = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields = json.loads(line)
                lists = ("words", "heads", "relations", "tags")
                trees.append(Tree(**(fields | {name: tuple(fields[name]) for name in lists})))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{path}:{number}: not a tree ({error}); delete the file and run again"
                ) from error
    return trees
