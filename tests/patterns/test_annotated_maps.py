"""Annotations and the maps they name, those that come with the workflow in particular."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.core.run.errors import InputError
from workflow_scripts.patterns.annotated_maps import COLUMNS, read_annotations
from workflow_scripts.patterns.builtin_maps import builtin_maps
from workflow_scripts.patterns.builtin_texts import examples_of
from workflow_scripts.patterns.pattern_rules import CLASSES

ROOT = Path(__file__).parents[2]
OURS = ROOT / "annotations/minilm.csv"


def write(path: Path, rows: list[tuple], header: tuple = COLUMNS) -> Path:
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


ROW = ("m", "c", "e", 0, 1, "block", "12345678")


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        ([(*ROW[:5], "blok", "1")], COLUMNS, r"a.csv:2: class 'blok' is unknown"),
        ([(*ROW[:5], "", "1")], COLUMNS, r"a.csv:2: class ''"),
        ([ROW, ROW], COLUMNS, r"a.csv:3: this map is in line 2"),
        ([("m", "c", "e", -1, 1, "block", "1")], COLUMNS, r"a.csv:2: layer and head"),
        ([ROW[:6]], COLUMNS, r"a.csv:2: the row needs 7"),
        ([ROW], COLUMNS[:6], r"a.csv:1: the columns must be"),
        ([], COLUMNS, "no annotated maps"),
    ],
)
def test_a_wrong_annotation_is_named(tmp_path: Path, rows: list, header: tuple, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_annotations(write(tmp_path / "a.csv", rows, header))


def test_our_annotations_are_enough() -> None:
    rows = read_annotations(OURS)
    counts = Counter(CLASSES[row.label] for row in rows)
    assert len(rows) >= 400
    assert min(counts[name] for name in CLASSES) >= 30
    assert len({row.example for row in rows}) >= 80


def test_our_maps_are_made_anew() -> None:
    rows = [row for row in read_annotations(OURS) if row.example < "pairs-003"]
    rows += [row for row in read_annotations(OURS) if row.example == "reviews-000"]
    maps = builtin_maps(rows)
    assert len(maps) == len(rows)
    for map_ in maps:
        np.testing.assert_allclose(map_.pattern.sum(axis=-1), 1, atol=1e-5)
        assert map_.special[0] and map_.special[-1]
        is_pair = map_.annotation.corpus == "pairs"
        assert set(map_.segment) == ({0, 1} if is_pair else {0})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": "00000000"}, "other tokens than were annotated"),
        ({"example": "pairs-999"}, "pairs has no example pairs-999"),
        ({"head": 12}, "no layer 0, head 12"),
        ({"corpus": "novels"}, "'novels' is unknown"),
        ({"model": "bert"}, "model 'bert'"),
    ],
)
def test_annotations_of_something_else_are_refused(
    tmp_path: Path, change: dict, words: str
) -> None:
    first = pd.read_csv(OURS, dtype=str).iloc[0].to_dict() | {"layer": 0, "head": 1} | change
    path = write(tmp_path / "a.csv", [tuple(first[name] for name in COLUMNS)])
    with pytest.raises(InputError, match=words):
        builtin_maps(read_annotations(path))


def test_texts_are_the_same_every_time() -> None:
    for corpus, n in (("pairs", 60), ("reviews", 40)):
        examples = examples_of(corpus)
        assert len(examples) == n == len({example.texts for example in examples})
        assert examples == examples_of(corpus)
        assert {len(example.texts) for example in examples} == {2 if corpus == "pairs" else 1}
