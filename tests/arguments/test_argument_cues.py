"""Words of warrants, cues counted, and warrants with a cue changed."""

import random
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from workflow_scripts.arguments import argument_cues
from workflow_scripts.arguments.argument_reliance import changed, cues_to_change, sides
from workflow_scripts.arguments.wording import exchanged, forms, grams, without, without_another
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import prepare_arct

SAME = {"n't": "not"}
NOT = ("not",)


def points(*rows: tuple[str, str, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["warrant0", "warrant1", "label"])
    ids = [f"p{k}" for k in range(len(rows))]
    return frame.assign(split="train", version="original", id=ids, source="", claim="c", reason="r")


def test_contractions_are_split() -> None:
    assert forms("They Don't go, it cannot be", SAME) == (
        ["they", "do", "not", "go", ",", "it", "can", "not", "be"]
    )
    assert forms("They don't", {}) == ["they", "do", "n't"]
    assert grams(["a", "b", "a"], [1, 2]) == {("a",), ("b",), ("a", "b"), ("b", "a")}


def test_counts_by_hand() -> None:
    frame = points(
        ("it is not so", "it is so", 0),  # not: applicable, productive; is not, not so too
        ("it isn't so", "it is so", 1),  # not: applicable, not productive
        ("it is not", "it was not", 0),  # not in both
        ("a not not b", "a b", 0),  # twice in one warrant counts once
    )
    applicable, productive = argument_cues.count(frame, [1, 2], SAME)
    assert (applicable[NOT], productive[NOT]) == (3, 2)
    assert (applicable[("is", "not")], productive[("is", "not")]) == (3, 2)
    assert (applicable[("was",)], productive[("was",)]) == (1, 0)
    assert applicable[("so",)] == 0
    cues = argument_cues.measure(frame, [1, 2], SAME, 0.5, NOT).set_index("cue")
    assert cues.loc["not", "productivity"] == 2 / 3
    assert cues.loc["not", "coverage"] == 3 / 4
    assert (cues["applicable"] >= 2).all()


def test_intervals_are_exact_and_corrected() -> None:
    low, high = argument_cues.interval([0, 7, 10], [10, 10, 10], 0.05 / 3)
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        expected = stats.binomtest([0, 7, 10][k], 10).proportion_ci(1 - 0.05 / 3, "exact")
        assert (a, b) == pytest.approx((expected.low, expected.high))
    frame = points(*[("not", "so", 0)] * 9, ("not", "so", 1))
    measured = argument_cues.measure(frame, [1], SAME, 0.1, NOT).set_index("cue")
    assert measured.loc["not", "tested"] == 2
    # Nine or one of ten, or further out: 2 * (1 + 10) / 1024; two cues are tested.
    assert measured.loc["not", "p"] == pytest.approx(22 / 1024)
    assert measured.loc["not", "p_corrected"] == pytest.approx(44 / 1024)


def test_real_arct(real_data: Path, tmp_path: Path) -> None:
    out = {"table": tmp_path / "t.parquet", "counts": tmp_path / "c.csv"}
    source = {"path": str(real_data / "arct")}
    call(prepare_arct.main, out | {"source": source, "adversarial": "published"})
    settings = {"cue": "not", "sizes": [1, 2], "same": SAME, "min_coverage": 0.05}
    call(argument_cues.main, {"table": out["table"], "cues": tmp_path / "cues.parquet"} | settings)
    frame = tables.read(tmp_path / "cues.parquet")
    rows = frame[frame["cue"] == "not"].set_index(["data", "split"])
    counts = ["productive", "applicable", "n"]
    assert rows.loc[("original", "train"), counts].tolist() == [547, 775, 1210]
    assert rows.loc[("original", "dev"), counts].tolist() == [135, 192, 316]
    assert rows.loc[("original", "train"), "productivity"] == pytest.approx(0.706, abs=5e-4)
    assert rows.loc[("original", "train"), "coverage"] == pytest.approx(0.640, abs=5e-4)
    assert rows.loc[("swapped", "train"), "productivity"] == 547 / 775
    assert (frame[frame["data"] == "negated"]["productivity"] == 0.5).all()


def test_a_cue_is_removed_exchanged_or_spared() -> None:
    assert without("They don't want it, not now", NOT, SAME) == "They do want it, now"
    assert without("it is not so", ("is", "not"), SAME) == "it so"
    assert exchanged("it is not so", "it is so", NOT, SAME) == ("it is so", "it is not so")
    assert exchanged("a b c not", "d", NOT, SAME) == ("a b c", "d not")
    for seed in range(5):
        text = without_another("we do not go", NOT, SAME, random.Random(seed))
        assert "not" in text.split() and len(text.split()) == 3
    assert without_another("not", NOT, SAME, random.Random(0)) == "not"


def test_sides_and_changed_points() -> None:
    frame = points(("it is not so", "it is so", 0), ("x", "it isn't x", 0), ("not", "not", 0))
    sided = frame.assign(side=sides(frame, NOT, SAME))
    assert sided["side"].tolist() == [0, 1, -1]
    applicable = sided[sided["side"] >= 0]
    swapped = changed(applicable, NOT, SAME, "exchanged", 1)
    assert swapped["warrant0"].tolist() == ["it is so", "x not"]
    assert swapped["warrant1"].tolist() == ["it is not so", "it is x"]
    removed = changed(applicable, NOT, SAME, "removed", 1)
    assert removed["warrant1"].tolist() == ["it is so", "it is x"]
    control = changed(applicable, NOT, SAME, "control", 1)
    assert control.equals(changed(applicable, NOT, SAME, "control", 1))


def test_cues_furthest_from_chance_are_changed() -> None:
    rows = [("so", 1e-3), ("not", 0.5), ("is not", 1e-9), ("do", 0.04)]
    frame = pd.DataFrame(rows, columns=["cue", "p"]).assign(data="original", split="train")
    frame["p_corrected"] = frame["p"] * 4
    assert cues_to_change(frame, "not", 2) == [("not",), ("is", "not")]
    assert cues_to_change(frame, "not", 9) == [("not",), ("is", "not"), ("so",)]
