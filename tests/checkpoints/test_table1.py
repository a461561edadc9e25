"""Kovaleva et al. 2019, Table 1."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.checkpoints import kovaleva2019_table1 as table1


def metrics() -> pd.DataFrame:
    rows = []
    values = {
        ("pretrained", 1): (0.3, 0.8),
        ("pretrained", 2): (0.5, 0.9),
        ("random", 1): (0.4, 0.6),
    }
    for (init, seed), both in values.items():
        for stage, value in zip(("untrained", "fine-tuned"), both, strict=True):
            row = {"stage": stage, "split": "dev", "metric": "accuracy", "value": value, "n": 10}
            row |= {"ci_low": value - 0.1 * seed, "ci_high": value + 0.05}
            row["samples"] = value + np.array([-2, -1, 0, 1, 2]) * (
                0.01 if stage == "untrained" else 0.02
            )
            rows.append(row | {"majority": 0.55, "task": "RTE", "init": init, "seed": seed})
    mismatched = {"split": "dev_mismatched", "task": "MNLI"}
    rows += [row | mismatched for row in rows[:2]]
    rows += [row | {"task": "MRPC", "metric": "f1"} for row in rows[:2]]
    return pd.DataFrame(rows)


def test_means_and_spreads_over_seeds() -> None:
    frame = table1.table1(metrics()).set_index("task")
    row = frame.loc["RTE"]
    assert row["pretrained"] == pytest.approx(40)
    assert row["pretrained_sd"] == pytest.approx(100 * 0.02**0.5)
    assert row["pretrained_tuned"] == pytest.approx(85)
    # 0.8 - 0.1 and 0.9 - 0.2; 0.8 + 0.05 and 0.9 + 0.05
    assert (row["pretrained_tuned_low"], row["pretrained_tuned_high"]) == pytest.approx((70, 90))
    assert row["random_tuned"] == pytest.approx(60)
    assert pd.isna(row["random_tuned_sd"])
    assert row["majority"] == pytest.approx(55)
    assert row["seeds"] == 2
    assert row[["paper_pretrained", "paper_random_tuned", "paper_pretrained_tuned"]].tolist() == [
        52.7,
        52.7,
        64.6,
    ]


def test_differences_are_of_one_seed_and_the_same_samples() -> None:
    """Those of the tuned samples and of the untrained go up together, so that half is left."""
    frame = table1.differences(metrics()).set_index(["task", "split", "column", "other"])
    row = frame.loc[("RTE", "dev", "pretrained_tuned", "pretrained")]
    assert row[["score", "other_score", "gain"]].tolist() == pytest.approx([85, 40, 45])
    assert row["gain_sd"] == pytest.approx(100 * 0.005**0.5)  # 50 and 40
    ends = np.percentile(np.array([-2, -1, 0, 1, 2]), (2.5, 97.5))
    assert row[["gain_low", "gain_high"]].tolist() == pytest.approx((45 + ends).tolist())
    assert (row["n"], row["seeds"]) == (10, 2)
    assert frame.loc[("RTE", "dev", "pretrained_tuned", "random_tuned"), "seeds"] == 1
    assert ("MNLI", "dev_mismatched", "pretrained_tuned", "random_tuned") not in frame.index
