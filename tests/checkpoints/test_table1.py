"""Kovaleva et al. 2019, Table 1."""

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
