"""Classes of maps by rules, annotations, and the maps that they name."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.patterns.builders import SEGMENT, SPECIAL, made_up
from workflow_scripts.core.errors import InputError
from workflow_scripts.patterns import figures
from workflow_scripts.patterns.annotated_maps import (
    CLASSES,
    COLUMNS,
    classify,
    masses,
    read_annotations,
)
from workflow_scripts.patterns.pattern_classifier import builtin_maps

ROOT = Path(__file__).parents[2]
OURS = ROOT / "annotations/minilm.csv"
TUNED, TUNED_MAPS = (ROOT / f"annotations/minilm-finetuned.{ending}" for ending in ("csv", "h5"))


def write(path: Path, rows: list[tuple]) -> Path:
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


ROW = ("m", "c", "e", 0, 1, "block", "12345678")


def test_a_wrong_annotation_is_named(tmp_path: Path) -> None:
    rows = [ROW, (*ROW[:4], 2, "blok", "1")]
    with pytest.raises(InputError, match=r"a.csv:3: class 'blok' is unknown"):
        read_annotations(write(tmp_path / "a.csv", rows))
    with pytest.raises(InputError, match=r"a.csv:3: this map is annotated in a line above"):
        read_annotations(write(tmp_path / "a.csv", [ROW, (*ROW[:5], "vertical", "1")]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": "00000000"}, "other tokens than were annotated"),
        ({"head": 12}, "no layer 0, head 12"),
    ],
)
def test_annotations_of_something_else_are_refused(
    tmp_path: Path, change: dict, words: str
) -> None:
    first = pd.read_csv(OURS, dtype=str).iloc[0].to_dict() | {"layer": 0, "head": 1} | change
    path = write(tmp_path / "a.csv", [tuple(first[name] for name in COLUMNS)])
    with pytest.raises(InputError, match=words):
        builtin_maps(read_annotations(path))


def test_agreement_by_hand() -> None:
    labels = np.array([[0] * 5 + [1] * 5, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]])
    table = figures.agreement(labels, 500, 1).set_index("class")
    # 7 of 10 agree; by chance 0.5 * 0.4 + 0.5 * 0.4.
    assert table.loc["all", "agreement"] == pytest.approx(0.7)
    assert table.loc["all", "kappa"] == pytest.approx((0.7 - 0.4) / (1 - 0.4))
    assert table.loc["all", "kappa_low"] < 0.5 < table.loc["all", "kappa_high"]
    assert table.loc["vertical", "agreement"] == pytest.approx(0.8)
    assert table.loc["vertical", "instead"] == "diagonal"
    assert table.loc["diagonal", ["n", "instead"]].tolist() == [5, "vertical+diagonal"]
    assert table.loc["block", "n"] == 0


def test_masses_by_hand() -> None:
    pattern = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.4, 0.1, 0.1, 0.4], [0.0, 0.0, 1.0, 0.0]]
    )
    special, segment = np.array([True, False, False, False]), np.array([0, 0, 0, 1])
    columns, diagonal, block = masses(pattern, special, segment)
    assert columns == pytest.approx((1 + 0.2 + 0.4 + 0) / 4)
    assert diagonal == pytest.approx((0 + 0.8 + 0.6 + 1.0) / 4)
    # Among tokens 1 to 3: 0.5 + 0.3 + 0.1 + 0.1 of 2.4 within; 5 of 9 cells are within.
    assert block == pytest.approx(1.0 / 2.4 - 5 / 9)
    assert masses(pattern, special, np.zeros(4))[2] == 0


@pytest.mark.parametrize("kind", CLASSES)
def test_rules_know_clear_cases(kind: str) -> None:
    pattern = np.stack([made_up(kind, seed) for seed in range(4)])
    assert [CLASSES[number] for number in classify(pattern, SPECIAL, SEGMENT)] == [kind] * 4
