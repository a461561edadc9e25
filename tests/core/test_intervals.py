"""Means with bootstrap intervals, also where values are missing."""

import numpy as np
import pytest

from workflow_scripts.core.stats.bootstrap import (
    INDEPENDENT,
    bootstrap_mean,
    document_weights,
    per_head,
)

DOCUMENTS = ["b", "a", "b", "c", "a", "b", "d"]


def test_bootstrap_interval_covers_as_often_as_it_states() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, size=(60, 400))
    mean, low, high = bootstrap_mean(values, 400, 1, INDEPENDENT)
    np.testing.assert_allclose(mean, values.mean(0))
    covered = ((low < 3) & (high > 3)).mean()
    assert 0.9 < covered < 0.98
    width = (high - low).mean()
    assert width == pytest.approx(2 * 1.96 / np.sqrt(60), rel=0.1)


def test_bootstrap_leaves_out_what_is_missing() -> None:
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    mean, low, high = bootstrap_mean(values, 200, 1, INDEPENDENT)
    assert mean[0] == 2
    assert 1 <= low[0] <= 2 <= high[0] <= 3
    assert np.isnan([mean[1], low[1], high[1]]).all()


def test_table_has_a_row_per_head_and_target() -> None:
    values = {"a": np.arange(24.0).reshape(4, 2, 3), "b": np.zeros((4, 2, 3))}
    frame = per_head(values, "target", "attention", 100, 1, INDEPENDENT)
    assert list(frame.columns) == [
        "layer", "head", "target", "attention", "ci_low", "ci_high", "n",
    ]  # fmt: skip
    assert len(frame) == 12
    row = frame[(frame.target == "a") & (frame["layer"] == 1) & (frame["head"] == 2)].iloc[0]
    assert row["attention"] == np.mean([5, 11, 17, 23])
    assert row["n"] == 4


def test_an_interval_does_not_depend_on_what_others_miss() -> None:
    values = np.random.default_rng(2).normal(size=(9, 3))
    values[1:, 1] = np.nan  # many draws are without the only value
    values[::2, 2] = np.nan
    together = np.array(bootstrap_mean(values, 200, 1, INDEPENDENT))
    for column in range(3):
        alone = np.array(bootstrap_mean(values[:, [column]], 200, 1, INDEPENDENT))
        np.testing.assert_allclose(together[:, column], alone[:, 0], atol=1e-14)
    draws = np.random.default_rng(1).multinomial(9, np.full(9, 1 / 9), size=200)
    sampled = [sum(w * v for w, v in zip(row, values[:, 0], strict=True)) / 9 for row in draws]
    np.testing.assert_allclose(together[1:, 0], np.percentile(sampled, (2.5, 97.5)), atol=1e-14)


def test_whole_documents_are_sampled() -> None:
    """Against a slow version: draw documents, then collect the examples of each."""
    weights = document_weights(DOCUMENTS, draws=50, seed=3)
    names = list(dict.fromkeys(DOCUMENTS))
    counts = np.random.default_rng(3).multinomial(4, np.full(4, 1 / 4), size=50)
    for row, count in zip(weights, counts, strict=True):
        sampled = [name for name, times in zip(names, count, strict=True) for _ in range(times)]
        expected = np.zeros(len(DOCUMENTS), int)
        for name in sampled:
            for index, document in enumerate(DOCUMENTS):
                expected[index] += document == name
        assert row.tolist() == expected.tolist()
    assert len({tuple(row) for row in weights}) > 10


def test_an_interval_over_documents_against_a_slow_version() -> None:
    values = np.random.default_rng(4).normal(size=(7, 2))
    values[[1, 2], 1] = np.nan
    mean, low, high = bootstrap_mean(values, 300, 5, DOCUMENTS)
    np.testing.assert_allclose(mean, np.nanmean(values, axis=0))
    for column in range(2):
        sampled = []
        for row in document_weights(DOCUMENTS, 300, 5):
            sample = np.repeat(values[:, column], row)
            if np.isfinite(sample).any():
                sampled.append(np.nanmean(sample))
        expected = np.percentile(sampled, (2.5, 97.5))
        np.testing.assert_allclose([low[column], high[column]], expected)


def test_intervals_over_documents_cover_what_examples_do_not() -> None:
    """Ten examples share their document's effect: 400 tables of 40 documents each."""
    rng = np.random.default_rng(0)
    documents = [str(number) for number in range(40) for _ in range(10)]
    effects = rng.normal(0, 1, size=(40, 400)).repeat(10, axis=0)
    values = 3 + effects + rng.normal(0, 1, size=(400, 400))

    def covered(names: list[str] | None) -> float:
        _, low, high = bootstrap_mean(values, 400, 1, names)
        return float(((low < 3) & (high > 3)).mean())

    assert 0.9 < covered(documents) < 0.98
    assert covered(INDEPENDENT) < 0.65


def test_one_document_has_no_interval() -> None:
    mean, low, high = bootstrap_mean(np.array([1.0, 2.0, 6.0]), 100, 1, ["a", "a", "a"])
    assert mean == 3
    assert np.isnan([low, high]).all()
