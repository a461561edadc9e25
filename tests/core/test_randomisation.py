"""The randomisation test: against plain loops, and simulations with a known truth."""

import logging

import numpy as np
import pytest
from scipy import stats

from tests.core.builders import labels_and_predictions
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.metrics import METRICS, SUMS
from workflow_scripts.core.stats.randomisation import OfMetric, OfSums


def untied(metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions without equal scores, where the metric has no classes."""
    labels, predictions = labels_and_predictions(metric, 21, 6)
    if metric in ("pearson", "spearman"):
        predictions = predictions + np.random.default_rng(1).normal(0, 1e-3, predictions.shape)
    return labels, predictions


def plain_effects(
    metric: str, labels: np.ndarray, baseline: np.ndarray, variants: np.ndarray, draws: int
) -> np.ndarray:
    """Effects of swaps [draw, variant], one example at a time, by the libraries' metrics."""
    if metric in ("pearson", "spearman"):
        baseline, *variants = (stats.zscore(scores) for scores in (baseline, *variants))
    rows = []
    for inside in np.concatenate(list(randomisation.swap_sets(len(labels), draws, 3))):
        row = []
        for variant in variants:
            first, second = [], []
            for example, swapped in enumerate(inside):
                one, other = baseline[example], variant[example]
                first.append(other if swapped else one)
                second.append(one if swapped else other)
            scores = [METRICS[metric](labels, np.array(mixed)) for mixed in (second, first)]
            row.append(scores[0] - scores[1])
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("metric", METRICS)
def test_drawn_effects_are_those_of_a_plain_loop(metric: str, ties: bool) -> None:
    labels, predictions = labels_and_predictions(metric, 21, 6) if ties else untied(metric)
    baseline, variants = predictions[0], predictions[1:]
    variants[1] = baseline
    variants[2, :15] = baseline[:15]
    actual = OfMetric(metric, labels).swapped(baseline[None], variants, 40, 3)
    expected = plain_effects(metric, labels, baseline, variants, 40)
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    assert np.abs(expected[:, 0]).max() > 0.01
    observed = OfMetric(metric, labels).observed(baseline[None], variants)
    score = METRICS[metric]
    plain = [score(labels, variant) - score(labels, baseline) for variant in variants]
    np.testing.assert_allclose(observed, plain, atol=1e-12)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_the_scale_of_scores_does_not_matter(metric: str) -> None:
    labels, predictions = untied(metric)
    compared = OfMetric(metric, labels)
    plain = compared.swapped(predictions[:1], predictions[1:], 20, 3)
    scaled = compared.swapped(predictions[:1], 7 * predictions[1:] - 30, 20, 3)
    np.testing.assert_allclose(scaled, plain, atol=1e-9)
    constant = compared.swapped(predictions[:1], np.ones((1, 21)), 20, 3)
    assert np.isfinite(constant).all()


@pytest.mark.parametrize("metric", SUMS)
def test_a_baseline_for_each_variant(metric: str) -> None:
    labels, predictions = labels_and_predictions(metric, 21, 6)
    together = OfMetric(metric, labels).swapped(predictions[:3], predictions[3:], 20, 3)
    for row in range(3):
        expected = plain_effects(metric, labels, predictions[row], predictions[[3 + row]], 20)
        np.testing.assert_allclose(together[:, row], expected[:, 0], atol=1e-12)


def test_a_ratio_of_sums_is_scored_anew() -> None:
    """As BLEU is: each example has two counts, the score is the ratio of their sums."""
    counts = np.random.default_rng(4).integers(1, 9, (3, 15, 2))
    ratio = OfSums(lambda rows: np.moveaxis(rows, 2, 0), lambda sums: sums[0] / sums[1])
    actual = ratio.swapped(counts[:1], counts[1:], 30, 3)
    for draw, inside in enumerate(np.concatenate(list(randomisation.swap_sets(15, 30, 3)))):
        for variant in (1, 2):
            first = np.where(inside[:, None], counts[variant], counts[0]).sum(axis=0)
            second = np.where(inside[:, None], counts[0], counts[variant]).sum(axis=0)
            expected = second[0] / second[1] - first[0] / first[1]
            assert actual[draw, variant - 1] == pytest.approx(expected)


def test_swap_sets_do_not_depend_on_how_many_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(randomisation.swap_sets(19, 30, 5)))
    monkeypatch.setattr(randomisation, "CELLS", 60)
    parts = list(randomisation.swap_sets(19, 30, 5))
    assert len(parts) == 10
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert 0.4 < whole.mean() < 0.6
    assert len(np.unique(whole, axis=0)) == 30


def plain_smallest_p(effects: np.ndarray, null: np.ndarray) -> tuple[list[float], list[float]]:
    """Both p-values of each variant, in loops over draws and variants."""
    everything = [list(effects), *null.tolist()]
    draws, variants = len(everything), range(len(effects))
    p = [
        [sum(abs(other[k]) >= abs(row[k]) - 1e-9 for other in everything) / draws for k in variants]
        for row in everything
    ]
    order = sorted(variants, key=lambda k: p[0][k])
    corrected, highest = {}, 0.0
    for rank, k in enumerate(order):
        rest = order[rank:]
        share = sum(min(row[other] for other in rest) <= p[0][k] + 1e-9 for row in p) / draws
        highest = max(highest, share)
        corrected[k] = highest
    return p[0], [corrected[k] for k in variants]


def test_p_values_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(1)
    null_effects = rng.integers(-3, 4, (60, 7)) * np.array([1, 1, 2, 1, 0, 3, 1]) / 10
    effects = np.array([0.1, -0.3, 0.6, 0.2, 0.0, 1.2, 0.3])
    actual = randomisation.smallest_p(effects, null_effects)
    p, corrected = plain_smallest_p(effects, null_effects)
    np.testing.assert_allclose(actual.p, p)
    np.testing.assert_allclose(actual.corrected, corrected)
    assert actual.p[4] == actual.corrected[4] == 1
    assert actual.p[5] == 1 / 61  # only the observed effect is as large
    single_step = [(plain >= np.array(p)).mean() for plain in p]
    assert len(set(single_step)) > 3  # the order matters


def test_what_would_pass_is_what_passes() -> None:
    """One more variant, independent of the others, with p just at the critical value or above."""
    rng = np.random.default_rng(2)
    null_effects = rng.normal(size=(4000, 10))
    critical = randomisation.smallest_p(np.zeros(10), null_effects).critical
    more = rng.normal(size=(4000, 1))
    sizes, most = np.sort(np.abs(more[:, 0]))[::-1], int(critical * 4001)
    assert most > 10
    for count, passes in ((most, True), (most + 2, False)):  # draws with as large an effect
        effects = np.append(np.zeros(10), sizes[count - 2])
        actual = randomisation.smallest_p(effects, np.hstack([null_effects, more]))
        assert actual.p[10] == pytest.approx(count / 4001)
        assert (actual.corrected[10] < 0.05) == passes
    nothing = randomisation.smallest_p(np.zeros(3), np.zeros((50, 3)))
    assert nothing.critical == pytest.approx(0.05)
    many = randomisation.smallest_p(np.zeros(9), rng.normal(size=(60, 9)))
    assert many.critical < 1 / 61  # each of nine variants has its own largest draw: none can pass


def test_too_few_permutations_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    labels = np.zeros(30, int)
    variants = np.zeros((20, 30), int)
    for draws, warnings in ((1000, 0), (300, 1)):
        with caplog.at_level(logging.WARNING):
            caplog.clear()
            randomisation.test(OfMetric("accuracy", labels), labels, variants, draws, 1)
        assert len(caplog.records) == warnings
    assert "set permutations to 2100" in caplog.text


def study(
    n: int, flips: list[float], loss: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, a baseline that is right in 80%, variants with random flips and, first, a true loss.

    As many right predictions become wrong as wrong ones right.
    """
    labels = rng.integers(0, 2, n)
    baseline = np.where(rng.random(n) < 0.8, labels, 1 - labels)
    rates = np.array(flips)[:, None] / np.where(baseline == labels, 1.6, 0.4)
    variants = np.where(rng.random(rates.shape) < rates, 1 - baseline, baseline)
    right = np.flatnonzero(variants[0] == labels)
    variants[0, rng.choice(right, loss, replace=False)] ^= 1
    return labels, baseline, variants


def rejected(sets: int, n: int, flips: list[float], loss: int) -> np.ndarray:
    """Whether the first variant, and any, is significant: alone and corrected, shares of sets."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(sets):
        labels, baseline, variants = study(n, flips, loss, rng)
        compared = OfMetric("accuracy", labels)
        tested = randomisation.test(compared, baseline, variants, 500, number)
        significant = tested.p < 0.05, tested.corrected < 0.05
        rows.append([significant[0].any(), significant[1].any(), significant[1][0]])
    return np.mean(rows, axis=0)


def test_it_seldom_cries_wolf() -> None:
    alone, corrected, _ = rejected(200, 150, [0.15] * 20, loss=0)
    assert alone > 0.3  # twenty tests
    assert corrected < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_a_small_loss_among_quiet_variants_is_found() -> None:
    """Four points on 200 examples, among variants that each change 0.5% of the predictions."""
    _, _, found = rejected(20, 200, [0.005] * 20, loss=8)
    assert found >= 0.9


def test_it_seldom_errs_about_the_others_where_several_matter() -> None:
    """Six of twelve variants lose 4 points of 300 examples; the others change as often for good."""
    rng, found, erred, sets = np.random.default_rng(11), 0.0, 0, 100
    for number in range(sets):
        labels, baseline, others = study(300, [0.1] * 6, 0, rng)
        losing = np.tile(baseline, (6, 1))
        for variant in losing:
            variant[rng.choice(np.flatnonzero(baseline == labels), 12, replace=False)] ^= 1
        compared, variants = OfMetric("accuracy", labels), np.concatenate([losing, others])
        significant = randomisation.test(compared, baseline, variants, 500, number).corrected < 0.05
        found += significant[:6].mean() / sets
        erred += significant[6:].any()
    assert found > 0.9
    assert erred / sets < 0.05 + 2 * np.sqrt(0.05 * 0.95 / sets)


def test_step_down_finds_no_less_than_one_step() -> None:
    rng = np.random.default_rng(3)
    null_effects = rng.normal(size=(999, 6))
    effects = np.array([9.0, 9.0, 9.0, 9.0, 9.0, 2.3])
    actual = randomisation.smallest_p(effects, null_effects)
    assert actual.corrected[5] < 0.05  # the only one left
    alone = randomisation.smallest_p(np.array([0, 0, 0, 0, 0, 2.3]), null_effects)
    assert alone.corrected[5] > 0.05
