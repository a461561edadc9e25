"""Means with bootstrap intervals, also where values are missing."""

import numpy as np
import pytest

from workflow_scripts.core.stats.intervals import bootstrap_mean, per_head


def test_bootstrap_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, size=(60, 400))
    mean, low, high = bootstrap_mean(values, draws=400, seed=1)
    np.testing.assert_allclose(mean, values.mean(0))
    covered = ((low < 3) & (high > 3)).mean()
    assert 0.9 < covered < 0.98
    width = (high - low).mean()
    assert width == pytest.approx(2 * 1.96 / np.sqrt(60), rel=0.1)


def test_bootstrap_leaves_out_what_is_missing() -> None:
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    mean, low, high = bootstrap_mean(values, draws=200, seed=1)
    assert mean[0] == 2
    assert 1 <= low[0] <= 2 <= high[0] <= 3
    assert np.isnan([mean[1], low[1], high[1]]).all()


def test_table_has_a_row_per_head_and_target() -> None:
    values = {"a": np.arange(24.0).reshape(4, 2, 3), "b": np.zeros((4, 2, 3))}
    frame = per_head(values, "target", "attention", 100, 1)
    assert list(frame.columns) == [
        "layer", "head", "target", "attention", "ci_low", "ci_high", "n",
    ]  # fmt: skip
    assert len(frame) == 12
    row = frame[(frame.target == "a") & (frame["layer"] == 1) & (frame["head"] == 2)].iloc[0]
    assert row["attention"] == np.mean([5, 11, 17, 23])
    assert row["n"] == 4


def test_a_head_without_a_value_has_none() -> None:
    values = np.full((4, 1, 2), np.nan)
    mean, low, high = bootstrap_mean(values, 100, 1)
    assert np.isnan([mean, low, high]).all()
    frame = per_head({"negation": values}, "kind", "attention", 100, 1)
    assert frame["n"].tolist() == [0, 0]
    values[1, 0, 0] = 0.5
    frame = per_head({"negation": values}, "kind", "attention", 100, 1)
    assert frame["attention"].tolist()[0] == 0.5
    assert np.isnan(frame["attention"].tolist()[1])


def test_an_interval_does_not_depend_on_what_others_miss() -> None:
    values = np.random.default_rng(2).normal(size=(9, 3))
    values[1:, 1] = np.nan  # many draws are without the only value
    values[::2, 2] = np.nan
    together = np.array(bootstrap_mean(values, 200, 1))
    for column in range(3):
        alone = np.array(bootstrap_mean(values[:, [column]], 200, 1))
        np.testing.assert_allclose(together[:, column], alone[:, 0], atol=1e-14)
    draws = np.random.default_rng(1).multinomial(9, np.full(9, 1 / 9), size=200)
    drawn = [sum(w * v for w, v in zip(row, values[:, 0], strict=True)) / 9 for row in draws]
    np.testing.assert_allclose(together[1:, 0], np.percentile(drawn, (2.5, 97.5)), atol=1e-14)
