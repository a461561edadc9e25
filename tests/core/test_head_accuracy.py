"""Accuracies, intervals and held-out choices of kinds that are rare or missing."""

import numpy as np
import pytest

from workflow_scripts.core.stats import bootstrap


def test_a_kind_that_never_occurs_has_no_accuracy() -> None:
    correct = np.array([[[1, 0], [0, 0]], [[2, 0], [1, 0]]])  # [unit, head, kind]
    total = np.array([[2, 0], [2, 0]])
    mean, low, high = bootstrap.bootstrap_accuracy(correct, total, draws=200, seed=1)
    assert mean[:, 0].tolist() == [0.75, 0.25]
    assert (low[:, 0] <= mean[:, 0]).all() and (mean[:, 0] <= high[:, 0]).all()
    assert np.isnan([mean[:, 1], low[:, 1], high[:, 1]]).all()


def test_draws_without_a_rare_kind_do_not_count() -> None:
    correct, total = np.zeros((6, 1, 1), dtype=int), np.zeros((6, 1), dtype=int)
    correct[:2], total[:2] = 1, 1
    mean, low, high = bootstrap.bootstrap_accuracy(correct, total, draws=200, seed=1)
    assert (mean, low, high) == (1, 1, 1)


def test_a_kind_in_one_unit_has_no_interval() -> None:
    correct, total = np.zeros((6, 1, 1), dtype=int), np.zeros((6, 1), dtype=int)
    correct[0], total[0] = 1, 2
    mean, low, high = bootstrap.bootstrap_accuracy(correct, total, draws=200, seed=1)
    assert mean.item() == 0.5
    assert np.isnan([low, high]).all()


def test_units_are_documents() -> None:
    assert bootstrap.document_units(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert bootstrap.document_units(["a", "a", "a"]).tolist() == [0, 1, 2]


def test_held_out_by_hand() -> None:
    order = np.random.default_rng(1).permutation(4)
    correct = np.zeros((4, 2, 1), dtype=int)
    correct[order[:2], 1] = 1  # the second head is best on the first half
    correct[order[2:], 0] = 1  # and never right on the other
    correct[order[3], 1] = 1
    assert bootstrap.held_out(correct, np.ones((4, 1), dtype=int), seed=1) == [((1,), 0.5, 2)]
    missing = np.zeros((4, 1), dtype=int)
    ((_, share, n),) = bootstrap.held_out(correct, missing, seed=1)
    assert np.isnan(share) and n == 0


def plain_gain(counts: list[tuple[np.ndarray, np.ndarray, int]], halves: list[list[int]]) -> float:
    """The gain over both halves, of units that are (right by head, right by baseline, words)."""
    gained = words = 0
    for chosen, measured in (halves, halves[::-1]):
        head, baseline = (
            int(np.argmax(sum(counts[unit][k] for unit in chosen), axis=0)) for k in (0, 1)
        )
        for unit in measured:
            right, by_baseline, n = counts[unit]
            gained, words = gained + right[head] - by_baseline[baseline], words + n
    return gained / words


def test_held_out_gains_by_a_plain_loop() -> None:
    """Every bootstrap sample is a list of units, whose copies stay in their unit's half.

    The gain of a sample is the mean over the divisions whose halves both have units of it.
    """
    rng = np.random.default_rng(4)
    total = rng.integers(1, 9, size=(9, 1))
    correct = rng.binomial(total, 0.6, size=(9, 3))
    baselines = rng.binomial(total, 0.5, size=(9, 2))
    counts = [(correct[k], baselines[k], int(total[k, 0])) for k in range(9)]
    (found,) = bootstrap.held_out_gains(
        correct[:, :, None], baselines[:, :, None], total, draws=150, seed=2
    )
    divisions = [[list(half) for half in bootstrap.random_halves(9, seed)] for seed in range(2, 10)]
    assert all(sorted(one + other) == list(range(9)) for one, other in divisions)
    of_divisions = [plain_gain(counts, halves) for halves in divisions]
    assert found.gain == pytest.approx(np.mean(of_divisions))
    gains = []
    for weights in bootstrap.bootstrap_weights(9, 150, 2):
        of_sample = []
        for halves in divisions:
            sampled = [[unit for unit in half for _ in range(weights[unit])] for half in halves]
            if all(sampled):
                of_sample.append(plain_gain(counts, sampled))
        if of_sample:
            gains.append(np.mean(of_sample))
    gains = [gain + found.gain - np.mean(gains) for gain in gains]
    assert [found.low, found.high] == pytest.approx(list(np.percentile(gains, [2.5, 97.5])))
    rarer = min(sum(gain <= 0 for gain in gains), sum(gain >= 0 for gain in gains))
    assert found.p == pytest.approx(min(1, 2 * (1 + rarer) / (1 + len(gains))))


def test_heads_that_are_right_by_chance_gain_nothing() -> None:
    """The best of 100 heads seems 10 points better than the baseline on what it is chosen on."""
    rng = np.random.default_rng(0)
    correct = rng.binomial(1, 0.5, size=(300, 100, 20))
    baseline = rng.binomial(1, 0.5, size=(300, 1, 20))
    total = np.ones((300, 20), dtype=int)
    naive = correct.mean(axis=0).max(axis=0) - baseline.mean(axis=0)
    found = bootstrap.held_out_gains(correct, baseline, total, draws=200, seed=1)
    assert naive.mean() > 0.05
    assert abs(np.mean([gain.gain for gain in found])) < 0.02
    assert sum(gain.p < 0.05 for gain in found) <= 3


def test_a_head_that_is_better_gains_what_it_is_better() -> None:
    rng = np.random.default_rng(0)
    correct = rng.binomial(1, [[[0.5]], [[0.8]]] * 1, size=(2, 600, 1)).swapaxes(0, 1)
    baseline = rng.binomial(1, 0.5, size=(600, 1, 1))
    (found,) = bootstrap.held_out_gains(
        correct, baseline, np.ones((600, 1), dtype=int), draws=400, seed=1
    )
    assert found.gain == pytest.approx(correct[:, 1].mean() - baseline.mean())
    assert found.low < 0.3 < found.high
    assert found.p == pytest.approx(2 / 401)
