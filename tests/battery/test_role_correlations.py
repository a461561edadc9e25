"""Rank correlations over heads, against ranks written out."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.battery import role_correlations

N = 12
RNG = np.random.default_rng(0)
HEADS = pd.DataFrame({"layer": np.repeat(range(3), 4), "head": [*range(4)] * 3})


def ranked(values) -> np.ndarray:
    return np.array([sum(other < value for other in values) for value in values], dtype=float)


def test_correlations_equal_those_of_ranks(tmp_path: Path) -> None:
    """Rows in another order are matched by head; other units and modes of the ablation are not."""
    score, top, eigenvalue, effect, needles = RNG.random((5, N))
    roles = pd.concat([HEADS.assign(role=role, score=score * factor) for role, factor in
                       (("induction", 1), ("previous", -1), ("duplicate", 2))])  # fmt: skip
    roles.sample(frac=1, random_state=1).to_parquet(tmp_path / "roles")
    HEADS.assign(top=top, eigenvalue=eigenvalue)[::-1].to_parquet(tmp_path / "copying")
    HEADS.assign(score=needles, role="retrieval")[::-1].to_parquet(tmp_path / "retrieval")
    rows = HEADS.assign(unit="head", mode="zero", effect=effect)
    others = [rows.assign(mode="mean", effect=0), rows.assign(unit="layer", effect=0)]
    pd.concat([rows, *others]).to_parquet(tmp_path / "ablation")
    card = {"n_layers": 3, "n_heads": 4, "n_kv_heads": 2}
    (tmp_path / "card").write_text(json.dumps(card), encoding="utf-8")
    role_correlations.main(
        tmp_path / "card",
        tmp_path / "roles",
        tmp_path / "copying",
        tmp_path / "table",
        bootstrap=100,
        retrieval=[tmp_path / "retrieval"],
        ablation=[tmp_path / "ablation"],
    )
    frame = pd.read_csv(tmp_path / "table").set_index(["of", "with"])
    expected = {
        ("induction", "eigenvalue"): (score, eigenvalue),
        ("induction", "copying"): (score, top),
        ("eigenvalue", "copying"): (eigenvalue, top),
        ("induction", "retrieval"): (score, needles),
        ("induction", "damage"): (score, effect),
        ("previous", "damage"): (-score, effect),
        ("duplicate", "damage"): (score, effect),
    }
    assert list(frame.index) == list(expected)
    for pair, (one, other) in expected.items():
        rho = np.corrcoef(ranked(one), ranked(other))[0, 1]
        assert frame.loc[pair, "rho"] == pytest.approx(rho, abs=1e-5)
        assert frame.loc[pair, "ci_low"] < rho < frame.loc[pair, "ci_high"]
        assert (frame.loc[pair, "n"], frame.loc[pair, "n_groups"]) == (N, N / 2)


def test_intervals_are_as_wide_as_of_one_head_of_each_group() -> None:
    """Where all heads of a group are equal, groups alone are what is known."""
    index = pd.MultiIndex.from_product([range(5), range(6)], names=["layer", "head"])
    values = np.random.default_rng(3).random((2, 10))
    frame = pd.DataFrame(np.repeat(values, 3, axis=1).T, index, ["eigenvalue", "copying"])
    (row,) = role_correlations.rank_correlations(frame, 3, 400, 1).to_dict("records")
    single = frame[frame.index.get_level_values("head") % 3 == 0]
    (alone,) = role_correlations.rank_correlations(single, 1, 400, 1).to_dict("records")
    for name in ("rho", "ci_low", "ci_high"):
        assert row[name] == pytest.approx(alone[name])
    assert (row["n"], row["n_groups"], alone["n"]) == (30, 10, 10)
