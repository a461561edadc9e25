"""Annotated maps: the file that says where they stand, and the maps, made anew from there."""

import csv
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.patterns.rules import CLASSES

COLUMNS = ("model", "corpus", "example", "layer", "head", "class", "tokens")


@dataclass(frozen=True)
class Annotation:
    """One annotated map: 0-based layer and head, number of its class, digest of its tokens."""

    model: str
    corpus: str
    example: str
    layer: int
    head: int
    label: int
    tokens: str
    source: str


@dataclass(frozen=True)
class Map:
    """An annotated map [query, key], its class, and what the rules need to know."""

    annotation: Annotation
    pattern: np.ndarray
    special: np.ndarray  # bool [L]
    segment: np.ndarray  # [L]


def digest_of(ids: np.ndarray) -> str:
    """Eight hex digits that change with the tokens, so that no map is taken for another's."""
    return hashlib.sha256(np.asarray(ids, dtype="<i4").tobytes()).hexdigest()[:8]


def read_annotations(path: Path) -> list[Annotation]:
    """The rows of an annotation file with COLUMNS.

    Raises InputError, with the line, for an unknown class, a map that comes twice or a wrong row.
    """
    numbered = list(read_lines(path))
    rows = csv.DictReader([line for _, line in numbered])
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise InputError(f"{path}:1: the columns must be {','.join(COLUMNS)}")
    found, seen = [], {}
    for number, row in enumerate(rows, start=2):
        where = f"{path}:{number}"
        if None in row.values() or None in row:
            raise InputError(f"{where}: the row needs {len(COLUMNS)} columns; mend it")
        if row["class"] not in CLASSES:
            raise InputError(
                f"{where}: class {row['class']!r} is unknown; accepted: {', '.join(CLASSES)}"
            )
        if not (row["layer"].isdigit() and row["head"].isdigit()):
            raise InputError(f"{where}: layer and head are numbers from 0; mend them")
        place = (row["model"], row["corpus"], row["example"], row["layer"], row["head"])
        if place in seen:
            raise InputError(f"{where}: this map stands in line {seen[place]} already; remove one")
        seen[place] = number
        found.append(
            Annotation(
                *place[:3],
                int(row["layer"]),
                int(row["head"]),
                CLASSES.index(row["class"]),
                row["tokens"],
                where,
            )
        )
    if not found:
        raise InputError(f"{path}: no annotated maps; fill in the column class of some")
    return found


def by_example(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """The annotations of each example."""
    groups = defaultdict(list)
    for one in annotations:
        groups[one.example].append(one)
    return groups


def maps_of(
    annotations: list[Annotation],
    ids: np.ndarray,
    pattern: np.ndarray,
    special: np.ndarray,
    segment: np.ndarray,
) -> list[Map]:
    """The maps of one example's annotations, from its pattern [layer, head, query, key].

    Raises InputError where the example's tokens are not those that were annotated, or the model
    has no such head.
    """
    found = []
    for one in annotations:
        if one.tokens != digest_of(ids):
            raise InputError(
                f"{one.source}: {one.corpus} {one.example} has other tokens than were annotated; "
                "annotate it anew, or give the text and the tokenizer of then"
            )
        if one.layer >= pattern.shape[0] or one.head >= pattern.shape[1]:
            raise InputError(f"{one.source}: the model has no layer {one.layer}, head {one.head}")
        found.append(Map(one, pattern[one.layer, one.head], special, segment))
    return found
