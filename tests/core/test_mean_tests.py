"""Tests of means, against plain loops and simulations in which the truth is known."""

import numpy as np
import pytest
from scipy import stats

from workflow_scripts.core.stats.mean_tests import mean_p_values, step_down
from workflow_scripts.core.stats.resampling import bootstrap_weights


def slow_t(sample: list[tuple[float, int]], centre: float) -> float:
    """t of a ratio of sums, of each drawn document's sum and size."""
    n = sum(size for _, size in sample)
    mean = sum(total for total, _ in sample) / n
    squares = sum((total - mean * size) ** 2 for total, size in sample)
    return abs(mean - centre) * n / squares**0.5


def test_p_values_by_a_plain_loop() -> None:
    rng = np.random.default_rng(4)
    documents = ["a", "b", "b", "c", "d", "e", "e", "e", "f", "g", "h", "i"]
    values = rng.normal([0.9, 0.1, 0.5, -0.6], 1, size=(12, 4))
    names = list(dict.fromkeys(documents))
    weights = bootstrap_weights(len(names), 60, 7)
    observed, drawn = [], []
    for column in values.T:
        of_document = {name: [] for name in names}
        for name, value in zip(documents, column, strict=True):
            of_document[name].append(value)
        pairs = [(sum(of_document[name]), len(of_document[name])) for name in names]
        samples = [
            [pair for pair, weight in zip(pairs, row, strict=True) for _ in range(weight)]
            for row in weights
        ]
        observed.append(slow_t(pairs, 0.0))
        drawn.append([slow_t(sample, column.mean()) for sample in samples])
    plain, corrected, so_far = {}, {}, 0.0
    remaining = sorted(range(4), key=lambda variant: -observed[variant])
    while remaining:
        first = remaining[0]
        plain[first] = (1 + sum(value >= observed[first] for value in drawn[first])) / 61
        largest = [max(drawn[other][k] for other in remaining) for k in range(60)]
        so_far = max(so_far, (1 + sum(value >= observed[first] for value in largest)) / 61)
        corrected[first] = so_far
        remaining.pop(0)
    actual = mean_p_values(values, 60, 7, documents)
    assert actual[0] == pytest.approx([plain[variant] for variant in range(4)])
    assert actual[1] == pytest.approx([corrected[variant] for variant in range(4)])
    assert len(set(actual[1])) > 1
    alone = mean_p_values(values, 60, 7)
    each = mean_p_values(values, 60, 7, [str(k) for k in range(12)])
    np.testing.assert_array_equal(alone, each)


def test_p_values_are_those_of_the_t_test_where_values_are_normal() -> None:
    values = np.random.default_rng(1).normal([0.0, 0.08, 0.15, 0.25], 1, size=(200, 4))
    p, _ = mean_p_values(values, 20_000, 1)
    assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.015)


def test_variants_without_spread_and_with_a_plain_effect() -> None:
    values = np.zeros((40, 3))
    values[:, 1] = 0.2
    values[:, 2] = 0.2 + 0.1 * np.random.default_rng(1).normal(size=40)
    p, corrected = mean_p_values(values, 999, 1)
    assert p.tolist() == corrected.tolist() == [1, 1, pytest.approx(1 / 1000)]


def test_step_down_by_hand() -> None:
    observed = np.array([3.0, 5.0, 1.0])
    drawn = np.array([[4.0, 1.0, 0.0], [0.0, 2.0, 6.0], [0.0, 0.0, 2.0]])
    # 5 against 4, 6, 2; then 3 against the other two: 4, 6, 2; then 1 against 0, 6, 2.
    assert step_down(observed, drawn).tolist() == [3 / 4, 2 / 4, 3 / 4]


def shared(rng: np.random.Generator, n: int, variants: int) -> np.ndarray:
    """Noise of which half is common to all variants, as heads read the same sentences."""
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, variants))


@pytest.mark.parametrize(("skewed", "in_documents"), [(False, False), (True, False), (True, True)])
def test_the_family_wise_error_is_kept(skewed: bool, in_documents: bool) -> None:
    rng = np.random.default_rng(2)
    alone = together = 0
    for seed in range(200):
        noise = shared(rng, 60, 30)
        values = np.exp(0.5 * noise) - np.exp(0.25) if skewed else noise
        repeats = rng.integers(1, 4, 60) if in_documents else np.ones(60, dtype=int)
        documents = np.repeat(np.arange(60), repeats).astype(str)
        p, corrected = mean_p_values(np.repeat(values, repeats, axis=0), 200, seed, documents)
        assert (corrected >= p).all()
        alone += bool((p < 0.05).any())
        together += bool((corrected < 0.05).any())
    assert alone > 0.3 * 200  # thirty tests at 5% each
    assert together < 0.1 * 200  # 5% but for chance


def test_what_is_there_is_found_and_what_is_not_is_not() -> None:
    rng = np.random.default_rng(3)
    found, false = np.zeros(5), 0
    for seed in range(60):
        values = shared(rng, 100, 72)
        values[:, :5] += 0.8  # 0.57 standard deviations
        _, corrected = mean_p_values(values, 300, seed)
        found += corrected[:5] < 0.05
        false += bool((corrected[5:] < 0.05).any())
    assert (found > 54).all()
    assert false < 8
