"""Bootstraps over units, intervals, accuracies and held-out choices, against plain loops."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from tests.core.builders import labels_and_predictions, plain_ends
from workflow_scripts.core.data import tables
from workflow_scripts.core.stats import bootstrap
from workflow_scripts.core.stats.bootstrap import (
    INDEPENDENT,
    bootstrap_mean,
    document_weights,
    per_head,
)
from workflow_scripts.core.stats.metrics import METRICS, weighted_scores


def scoring(
    metric: str, labels: np.ndarray, baseline: np.ndarray, variants: np.ndarray
) -> bootstrap.Scores:
    """A metric of the baseline [example] and its variants [variant, example]."""
    both = np.concatenate([baseline[None], variants])
    return partial(weighted_scores, metric, labels, both)


def gain_of(
    scores: bootstrap.Scores, n: int, divisions: int, draws: int, seed: int
) -> dict[str, float]:
    halves = bootstrap.divided(scores, n, divisions, seed)
    return bootstrap.honest_gain(scores, n, halves, draws, seed)


def test_the_honest_gain_by_a_plain_loop() -> None:
    labels, predictions = labels_and_predictions("f1", 21, 6)
    baseline, variants = predictions[0], predictions[1:]
    gains = []
    for half in bootstrap.half_weights(21, 9, 3).astype(bool):
        for chosen, measured in ((half, ~half), (~half, half)):
            scores = [METRICS["f1"](labels[chosen], variant[chosen]) for variant in variants]
            best = variants[int(np.argmax(scores))]
            score = METRICS["f1"](labels[measured], best[measured])
            gains.append(score - METRICS["f1"](labels[measured], baseline[measured]))
    actual = gain_of(scoring("f1", labels, baseline, variants), 21, 9, 5, 3)
    assert actual["gain"] == pytest.approx(np.mean(gains))


def test_halves_do_not_depend_on_how_many_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, predictions = labels_and_predictions("f1", 21, 6)
    scores = scoring("f1", labels, predictions[0], predictions[1:])
    whole = bootstrap.divided(scores, 21, 9, 3)
    monkeypatch.setattr(bootstrap, "AT_A_TIME", 4)
    np.testing.assert_array_equal(bootstrap.divided(scores, 21, 9, 3), whole)


def test_the_interval_of_the_honest_gain_by_a_plain_loop() -> None:
    """Bootstrap samples are written out; their halves share no example."""
    labels, predictions = labels_and_predictions("f1", 21, 6)
    n, draws, seed = 21, 7, 3
    rng = [np.random.default_rng(seed + 1 + k) for k in range(bootstrap.DIVISIONS_OF_SAMPLE)]
    orders = [generator.random((draws, n)).argsort(axis=1) for generator in rng]
    sampled = []
    for draw, weights in enumerate(bootstrap.bootstrap_weights(n, draws, seed)):
        gains = []
        for order in orders:
            present = sorted(np.flatnonzero(weights), key=lambda example: order[draw][example])
            one, other = present[: len(present) // 2], present[len(present) // 2 :]
            for chosen, measured in ((one, other), (other, one)):
                chosen, measured = (np.repeat(part, weights[part]) for part in (chosen, measured))
                scores = [METRICS["f1"](labels[chosen], row[chosen]) for row in predictions[1:]]
                best = predictions[1 + int(np.argmax(scores))]
                score = METRICS["f1"](labels[measured], best[measured])
                gains.append(score - METRICS["f1"](labels[measured], predictions[0][measured]))
        sampled.append(np.mean(gains))
    of_f1 = scoring("f1", labels, predictions[0], predictions[1:])
    actual = gain_of(of_f1, n, 9, draws, seed)
    low, high = np.percentile(sampled, (2.5, 97.5))
    moved = actual["gain"] - np.mean(sampled)
    assert actual["gain_low"] == pytest.approx(min(low, low + moved))
    assert actual["gain_high"] == pytest.approx(max(high, high + moved))
    assert abs(moved) > 0.01


def test_the_interval_of_the_honest_gain_holds_the_true_gain() -> None:
    """Of 60 samples of a population whose best variant gains 15 points, and of as many of noise."""
    rng = np.random.default_rng(2)
    held, zero = 0, 0
    for _ in range(60):
        labels = np.ones(120, int)
        baseline = (rng.random(120) < 0.7).astype(int)
        changed = rng.random((10, 120)) < 0.1
        noise = np.where(changed, rng.random((10, 120)) < 0.7, baseline).astype(int)
        better = np.where(rng.random(120) < 0.5, 1, baseline)[None]
        of_noise = scoring("accuracy", labels, baseline, noise)
        of_all = scoring("accuracy", labels, baseline, np.concatenate([noise, better]))
        gain = gain_of(of_all, 120, 50, 200, 1)
        held += gain["gain_low"] <= 0.15 <= gain["gain_high"]
        gain = gain_of(of_noise, 120, 50, 200, 1)
        zero += gain["gain_low"] <= 0 <= gain["gain_high"]
    assert held >= 52  # 57 expected, standard deviation 1.7
    assert zero >= 52


def test_agreement_of_halves_by_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 21)
    baseline, variants = rng.integers(0, 2, 21), rng.integers(0, 2, (4, 21))
    pearson, spearman = [], []
    for half in bootstrap.half_weights(21, 7, 3).astype(bool):
        effects = [
            [
                np.mean(v[part] == labels[part]) - np.mean(baseline[part] == labels[part])
                for v in variants
            ]
            for part in (half, ~half)
        ]
        pearson.append(stats.pearsonr(*effects)[0])
        spearman.append(stats.spearmanr(*effects)[0])
    scores = scoring("accuracy", labels, baseline, variants)
    actual = bootstrap.half_agreement(bootstrap.divided(scores, 21, 7, 3))
    assert actual["pearson"] == pytest.approx(np.mean(pearson))
    assert actual["spearman"] == pytest.approx(np.mean(spearman))
    assert actual["pearson_low"] == pytest.approx(np.percentile(pearson, 2.5))
    assert actual["spearman_high"] == pytest.approx(np.percentile(spearman, 97.5))


DOCUMENTS = ["b", "a", "b", "c", "a", "b", "d"]


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


@pytest.mark.parametrize("n", [8, 150])
def test_an_interval_over_few_documents_against_a_slow_version(n: int) -> None:
    rng = np.random.default_rng(4)
    documents = [f"{number}" for number in range(n) for _ in range(2)]
    values = rng.lognormal(size=(2 * n, 2))
    values[[1, 2, 3], 1] = np.nan  # one document has no value
    mean, low, high = bootstrap_mean(values, 300, 5, documents)
    np.testing.assert_allclose(mean, np.nanmean(values, axis=0))
    for column in range(2):
        pairs = values[:, column].reshape(n, 2)
        sums, sizes = np.nansum(pairs, axis=1), np.isfinite(pairs).sum(axis=1)
        expected = plain_ends(sums, sizes, 300, 5)
        np.testing.assert_allclose([low[column], high[column]], expected)


def test_an_interval_over_many_documents_is_of_percentiles() -> None:
    values = np.random.default_rng(4).normal(size=(bootstrap.FEW, 1))
    names = [str(number) for number in range(bootstrap.FEW)]
    sampled = [np.repeat(values, row).mean() for row in document_weights(names, 300, 5)]
    ends = bootstrap_mean(values, 300, 5, names)[1:]
    np.testing.assert_allclose(np.ravel(ends), np.percentile(sampled, (2.5, 97.5)))


def test_percentiles_of_few_units_lie_farther_out() -> None:
    """Of 11 units: Student's 2.2281 with 10 degrees, times the root of 1.1, is at 0.97%."""
    draws = np.arange(10_001) / 100  # each percentile is its own number
    assert bootstrap.percentile_ends(draws, 11) == pytest.approx([0.972, 99.028], abs=1e-3)
    assert bootstrap.percentile_ends(draws, bootstrap.FEW).tolist() == [2.5, 97.5]


def made_up_documents(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Sums and sizes of `n` documents, each [document, table], and the true ratio."""
    shape = (n, 1000)
    if kind == "normal":
        return rng.normal(3, 1, shape), np.ones(shape), np.array(3)
    if kind == "skewed":
        return rng.lognormal(0, 0.5, shape), np.ones(shape), np.exp(0.125)
    sizes = np.floor(30 * rng.lognormal(0, 0.8, shape) + 2)
    if kind == "sizes":  # the largest of eleven is of four times the median
        return sizes * rng.normal(3, 0.5, shape), sizes, np.array(3)
    share = {"rare": 0.05, "half": 0.5, "nearly all": 0.95}[kind]
    strength = 8 if kind == "half" else 20
    of_document = rng.beta(strength * share, strength * (1 - share), shape)
    return rng.binomial(sizes.astype(int), of_document).astype(float), sizes, np.array(share)


@pytest.mark.parametrize("kind", ["normal", "skewed", "sizes", "rare", "half", "nearly all"])
def test_intervals_over_few_documents_cover(kind: str) -> None:
    """Of 1000 tables; percentiles alone cover .84 to .91 at 11 documents, from .90 at 50."""
    rng = np.random.default_rng(1)
    for n in (11, 19, 50):
        sums, sizes, true = made_up_documents(kind, n, rng)
        low, high = bootstrap.ratio_ends(sums, sizes, 1000, 1)
        assert 0.93 <= ((low <= true) & (true <= high)).mean() <= 0.98
        if kind in ("rare", "half", "nearly all"):
            assert low.min() >= 0 and high.max() <= 1


def test_few_events_leave_an_interval_that_says_something() -> None:
    """Two of 40: many samples have no event and no variance, whose infinite t bounds nothing."""
    sums = np.zeros((40, 1))
    sums[:2] = 1
    low, high = bootstrap.ratio_ends(sums, np.ones_like(sums), 1000, 1)
    assert low.item() == 0
    assert 0.1 < high.item() < 0.2  # by Wilson .165


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
    assert np.isnan(bootstrap.percentile_ends(np.ones(100), 1)).all()


def test_a_kind_that_never_occurs_has_no_accuracy() -> None:
    correct = np.array([[[1, 0], [0, 0]], [[2, 0], [1, 0]]])  # [unit, head, kind]
    total = np.array([[2, 0], [2, 0]])
    mean, low, high = bootstrap.bootstrap_accuracy(correct, total, draws=200, seed=1)
    assert mean[:, 0].tolist() == [0.75, 0.25]
    assert (low[:, 0] <= mean[:, 0]).all() and (mean[:, 0] <= high[:, 0]).all()
    assert np.isnan([mean[:, 1], low[:, 1], high[:, 1]]).all()


def test_a_kind_in_one_unit_has_no_interval() -> None:
    correct, total = np.zeros((6, 1, 1), dtype=int), np.zeros((6, 1), dtype=int)
    correct[0], total[0] = 1, 2
    mean, low, high = bootstrap.bootstrap_accuracy(correct, total, draws=200, seed=1)
    assert mean.item() == 0.5
    assert np.isnan([low, high]).all()


def test_units_are_documents() -> None:
    assert tables.document_units(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert tables.document_units(["a", "a", "a"]).tolist() == [0, 1, 2]


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
    ends = bootstrap.percentile_ends(np.array(gains), np.count_nonzero(total))
    assert [found.low, found.high] == pytest.approx(list(ends))
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
