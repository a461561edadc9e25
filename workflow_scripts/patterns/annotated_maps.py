"""Maps with a class: by rules, by annotation, and stored next to their annotations."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.text_files import read_rows, whole_number
from workflow_scripts.core.errors import InputError

CLASSES = ("vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous")
VERTICAL = 0.5  # mass on special columns from which a map is vertical
DIAGONAL = 0.5  # mass on the diagonals from which it is diagonal
BOTH = 0.2  # mass on each, and
BOTH_TOGETHER = 0.6  # mass on the two together, from which it is both
BLOCK = 0.35  # mass within the own segment above that of uniform attention


def masses(
    pattern: np.ndarray, special: np.ndarray, segment: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass on special columns, on the three diagonals, and its excess within blocks: each [...].

    `pattern` is [..., query, key]; `special` (bool [L]) marks [CLS], [SEP]; `segment` is [L]. The
    diagonals are the token itself and its neighbours, without special columns. The excess is, among
    ordinary tokens, the share of mass within the own segment minus that of uniform attention.
    """
    pattern = pattern.astype(np.float32)
    length = pattern.shape[-1]
    columns = pattern[..., special].sum(axis=-1).mean(axis=-1)
    positions = np.arange(length)
    near = np.abs(positions[:, None] - positions) <= 1
    diagonal = (pattern * (near & ~special)).sum(axis=-1).mean(axis=-1)
    ordinary = np.flatnonzero(~special)
    inner = pattern[..., ordinary[:, None], ordinary]
    same = segment[ordinary][:, None] == segment[ordinary]
    if same.all():
        return columns, diagonal, np.zeros_like(columns)
    total = inner.sum(axis=(-2, -1))
    within = (inner * same).sum(axis=(-2, -1)) / np.maximum(total, 1e-6)
    return columns, diagonal, within - same.mean()


def classify(pattern: np.ndarray, special: np.ndarray, segment: np.ndarray) -> np.ndarray:
    """The number of each map's class in CLASSES, int [...], of maps [..., query, key]."""
    columns, diagonal, block = masses(pattern, special, segment)
    both = (columns >= BOTH) & (diagonal >= BOTH) & (columns + diagonal >= BOTH_TOGETHER)
    choices = [both, columns >= VERTICAL, diagonal >= DIAGONAL, block >= BLOCK]
    names = ["vertical+diagonal", "vertical", "diagonal", "block"]
    numbers = [CLASSES.index(name) for name in names]
    return np.select(choices, numbers, CLASSES.index("heterogeneous"))


STAGES = ("pretrained", "fine-tuned")
COLUMNS = ("model", "corpus", "example", "layer", "head", "class", "tokens")


@dataclass(frozen=True)
class Annotation:
    """One annotated map: 0-based layer and head."""

    model: str
    corpus: str
    example: str
    layer: int
    head: int
    label: int  # number of its class
    tokens: str  # digest
    source: str  # file and line

    @property
    def stage(self) -> str:
        """One of STAGES: the caches of checkpoints, <task>.<init>.<seed>, alone have dots."""
        return STAGES["." in self.corpus]

    @property
    def group(self) -> str:
        """The example, the same before and after fine-tuning."""
        return f"{self.corpus.partition('.')[0]}/{self.example}"

    @property
    def key(self) -> tuple[str | int, ...]:
        """What identifies the map; its tokens come last."""
        return (self.model, self.corpus, self.example, self.layer, self.head, self.tokens)


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
    """The rows of an annotation file with COLUMNS."""
    rows = read_rows(path)
    if tuple(next(rows, (0, []))[1]) != COLUMNS:
        raise InputError(f"{path}:1: the columns must be {','.join(COLUMNS)}")
    annotations: dict[tuple, Annotation] = {}
    for number, fields in rows:
        source = f"{path}:{number}"
        if len(fields) != len(COLUMNS):
            raise InputError(f"{source}: the row needs {len(COLUMNS)} columns; fix the row")
        row = dict(zip(COLUMNS, map(tables.from_text, fields), strict=True))
        if row["class"] not in CLASSES:
            accepted = ", ".join(CLASSES)
            raise InputError(f"{source}: class {row['class']!r} is unknown; accepted: {accepted}")
        layer, head = whole_number(row["layer"]), whole_number(row["head"])
        if layer is None or head is None:
            raise InputError(f"{source}: layer and head must be numbers from 0; fix them")
        label, named = CLASSES.index(row.pop("class")), row | {"layer": layer, "head": head}
        read = Annotation(**named, label=label, source=source)
        if read.key[:-1] in annotations:
            raise InputError(f"{source}: this map is annotated in a line above already; remove one")
        annotations[read.key[:-1]] = read
    return list(annotations.values())


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
    """Maps of a pattern [layer, head, query, key]; InputError for other tokens or heads."""
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


def write_maps(path: Path, keys: Sequence[tuple], maps: Sequence[tuple[np.ndarray, ...]]) -> None:
    """Write maps as an HDF5 file, with `Annotation.key` of each.

    A map is a pattern [query, key], kept as float16, with `special` (bool) and `segment`, both [L].
    """
    patterns, special, segments = zip(*maps, strict=True)
    with h5py.File(path, "w") as file:
        file["key"] = ["/".join(map(str, key)) for key in keys]
        file["length"] = np.array([len(pattern) for pattern in patterns], dtype=np.int32)
        values = np.concatenate([np.ravel(pattern) for pattern in patterns]).astype(np.float16)
        file.create_dataset("pattern", data=values, compression="gzip", shuffle=True)
        file["special"] = np.concatenate(special).astype(bool)
        file["segment"] = np.concatenate(segments).astype(np.int8)


def stored_maps(path: Path, annotations: Sequence[Annotation]) -> list[Map]:
    """The annotated maps in a file that `write_maps` wrote."""
    with h5py.File(path) as file:
        index_of = {key: index for index, key in enumerate(file["key"].asstr()[:])}
        lengths = file["length"][:]
        patterns = np.split(file["pattern"][:], np.cumsum(lengths**2)[:-1])
        special, segments = (
            np.split(file[name][:], np.cumsum(lengths)[:-1]) for name in ("special", "segment")
        )
    maps = []
    for annotation in annotations:
        index = index_of["/".join(map(str, annotation.key))]
        pattern = patterns[index].reshape(lengths[index], lengths[index])
        maps.append(Map(annotation, pattern, special[index], segments[index]))
    return maps
