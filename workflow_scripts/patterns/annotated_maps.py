"""Annotated maps: reading the file of annotations, and finding the maps that it names."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.text_files import read_rows, whole_number
from workflow_scripts.core.errors import InputError
from workflow_scripts.patterns.pattern_rules import CLASSES

STAGES = ("pretrained", "fine-tuned")
COLUMNS = ("model", "corpus", "example", "layer", "head", "class", "tokens")


@dataclass(frozen=True)
class Annotation:
    """One annotated map: 0-based layer and head, number of its class, digest of its tokens.

    `source` is the file and line.
    """

    model: str
    corpus: str
    example: str
    layer: int
    head: int
    label: int
    tokens: str
    source: str

    @property
    def stage(self) -> str:
        """One of STAGES: the caches of checkpoints, <task>.<init>.<seed>, alone have dots."""
        return STAGES["." in self.corpus]


@dataclass(frozen=True)
class Map:
    """An annotated map [query, key], its class, and what the rules need to know."""

    annotation: Annotation
    pattern: np.ndarray
    special: np.ndarray  # bool [L]
    segment: np.ndarray  # [L]


def digest_of(ids: np.ndarray) -> str:
    """Eight hex digits that identify the tokens an annotation was made for."""
    return hashlib.sha256(np.asarray(ids, dtype="<i4").tobytes()).hexdigest()[:8]


def read_annotations(path: Path) -> list[Annotation]:
    """The rows of an annotation file with COLUMNS.

    Raises InputError, with the line, for an unknown class, a duplicate map or a malformed row.
    """
    rows = read_rows(path)
    if tuple(next(rows, (0, []))[1]) != COLUMNS:
        raise InputError(f"{path}:1: the columns must be {','.join(COLUMNS)}")
    annotations, line_of = [], {}
    for number, fields in rows:
        source = f"{path}:{number}"
        if len(fields) != len(COLUMNS):
            raise InputError(f"{source}: the row needs {len(COLUMNS)} columns; fix the row")
        texts = map(tables.from_text, fields)
        annotation = _read_row(dict(zip(COLUMNS, texts, strict=True)), source)
        example = (annotation.model, annotation.corpus, annotation.example)
        key = (*example, annotation.layer, annotation.head)
        if key in line_of:
            raise InputError(f"{source}: this map is in line {line_of[key]} already; remove one")
        line_of[key] = number
        annotations.append(annotation)
    if not annotations:
        raise InputError(f"{path}: no annotated maps; fill in the column class of some")
    return annotations


def _read_row(row: dict[str, str], source: str) -> Annotation:
    if row["class"] not in CLASSES:
        accepted = ", ".join(CLASSES)
        raise InputError(f"{source}: class {row['class']!r} is unknown; accepted: {accepted}")
    layer, head = whole_number(row["layer"]), whole_number(row["head"])
    if layer is None or head is None:
        raise InputError(f"{source}: layer and head must be numbers from 0; fix them")
    return Annotation(
        model=row["model"],
        corpus=row["corpus"],
        example=row["example"],
        layer=layer,
        head=head,
        label=CLASSES.index(row["class"]),
        tokens=row["tokens"],
        source=source,
    )


def by_example(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """The annotations of each example."""
    groups = defaultdict(list)
    for annotation in annotations:
        groups[annotation.example].append(annotation)
    return groups


def maps_of(
    annotations: list[Annotation],
    ids: np.ndarray,
    pattern: np.ndarray,
    special: np.ndarray,
    segment: np.ndarray,
) -> list[Map]:
    """The maps of one example's annotations, from its pattern [layer, head, query, key].

    `ids`, `special` and `segment` are [L]. Raises InputError where the example's tokens are not
    those that were annotated, or the model has no such head.
    """
    maps = []
    for annotation in annotations:
        layer, head, source = annotation.layer, annotation.head, annotation.source
        if annotation.tokens != digest_of(ids):
            raise InputError(
                f"{source}: {annotation.corpus} {annotation.example} has other tokens than were "
                "annotated; annotate it again, or use the text and the tokenizer of the annotation"
            )
        if layer >= pattern.shape[0] or head >= pattern.shape[1]:
            raise InputError(f"{source}: the model has no layer {layer}, head {head}")
        maps.append(Map(annotation, pattern[layer, head], special, segment))
    return maps
