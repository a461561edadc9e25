"""Dependency trees of a corpus, next to its examples: a JSON object per line, in the same order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.data.records import read_records, write_records

ROOT = -1


@dataclass(frozen=True)
class Tree:
    """A sentence's words and their heads: `heads` has word indices from 0, and -1 for the root.

    `relations` and `tags` are empty strings if the treebank has none.
    """

    id: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    source: str


def is_punctuation(word: str, relation: str) -> bool:
    """Whether a word is punctuation: by its relation or, without relations, by its characters."""
    return relation == "punct" or (not relation and not any(letter.isalnum() for letter in word))


def misshapen(heads: Sequence[int]) -> tuple[int, str] | None:
    """A word of a sentence and what is wrong with it, where `heads` are no tree; else None.

    Every word must reach a root over its head; several roots are allowed, some treebanks have them.
    """
    if len(heads) and ROOT not in heads:
        return 0, "no word of this sentence has head 0, so that it has no root"
    reaches: set[int] = {ROOT}
    for word in range(len(heads)):
        path: list[int] = []
        while word not in reaches:
            if word in path:
                circle = path[path.index(word) :]
                names = ", ".join(str(member + 1) for member in circle)
                return min(circle), f"the heads of words {names} form a circle"
            path.append(word)
            word = heads[word]
        reaches.update(path)
    return None


def write_trees(path: Path, trees: Iterable[Tree]) -> None:
    """Write one JSON object per line, UTF-8."""
    write_records(path, trees)


def read_trees(path: Path) -> list[Tree]:
    """The trees of an annotation file. Raises InputError, with the line, if it is damaged."""
    return read_records(path, Tree, "a tree")
