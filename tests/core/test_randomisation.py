"""The randomisation tests: against plain loops, and simulations with a known truth."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.core.builders import labels_and_predictions
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.metrics import METRICS, SUMS
from workflow_scripts.core.stats.randomisation import (
    OfMetric,
    holm,
    matched_p_values,
    sampled_members,
    sign_flip_p,
)


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
def test_a_constant_prediction_has_finite_effects(metric: str) -> None:
    labels, predictions = untied(metric)
    swapped = OfMetric(metric, labels).swapped(predictions[:1], np.ones((1, 21)), 20, 3)
    assert np.isfinite(swapped).all()


@pytest.mark.parametrize("metric", SUMS)
def test_a_baseline_for_each_variant(metric: str) -> None:
    labels, predictions = labels_and_predictions(metric, 21, 6)
    together = OfMetric(metric, labels).swapped(predictions[:3], predictions[3:], 20, 3)
    for row in range(3):
        expected = plain_effects(metric, labels, predictions[row], predictions[[3 + row]], 20)
        np.testing.assert_allclose(together[:, row], expected[:, 0], atol=1e-12)


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


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews"])
def test_few_changed_predictions_have_the_p_value_of_all_swaps(metric: str) -> None:
    """Each of the 2^k swaps of k changed examples, one by one, by the library's metric."""
    labels, predictions = labels_and_predictions(metric, 21, 4)
    baseline, variants = predictions[0], predictions[1:].copy()
    variants[[0, 2]] = baseline
    broken = np.flatnonzero(baseline == labels)[:7]
    variants[0, broken] = 1 - baseline[broken]
    variants[1, 12:] = baseline[12:]
    found = randomisation.test(OfMetric(metric, labels), baseline, variants, 50, 1).p
    for variant, p in zip(variants, found, strict=True):
        changed = np.flatnonzero(variant != baseline)
        effects = []
        for swaps in product([False, True], repeat=len(changed)):
            one, other = variant.copy(), baseline.copy()
            swapped = changed[list(swaps)]
            one[swapped], other[swapped] = baseline[swapped], variant[swapped]
            effects.append(abs(METRICS[metric](labels, one) - METRICS[metric](labels, other)))
        assert p == pytest.approx(np.mean(np.array(effects) >= effects[0] - 1e-9))
    assert found[0] < 0.05 and found[2] == 1


def test_corrected_p_values_hardly_depend_on_the_seed() -> None:
    """Of twelve variants that change 6 to 9 of 200 predictions, the first only for the worse.

    Its p is 2 / 2^6. Others have the same p in some draws, and chance must not break such ties.
    """
    rng = np.random.default_rng(1)
    labels = np.ones(200, int)
    baseline = (rng.random(200) < 0.9).astype(int)
    variants = np.tile(baseline, (12, 1))
    right = rng.permutation(np.flatnonzero(baseline))
    variants[0, right[:6]] = 0
    for number in range(1, 12):
        variants[number, right[6 * number : 6 * number + 6]] = 0
        variants[number, np.flatnonzero(baseline == 0)[: number % 4]] = 1
    tests = [
        randomisation.test(OfMetric("accuracy", labels), baseline, variants, 5000, seed)
        for seed in range(8)
    ]
    assert {round(float(test.p[0]), 12) for test in tests} == {2 / 2**6}
    corrected = np.array([test.corrected[0] for test in tests])
    assert corrected.std(ddof=1) < 2 * tests[0].error[0]
    assert tests[0].error[0] == pytest.approx(np.sqrt(corrected[0] * (1 - corrected[0]) / 5001))


def test_the_error_of_a_corrected_p_value_is_what_seeds_differ_by() -> None:
    """Of twelve scores whose p-values are drawn, so that their own error counts, too."""
    rng = np.random.default_rng(1)
    labels = rng.normal(size=60)
    baseline = labels + rng.normal(size=60)
    variants = baseline + rng.normal(0, 0.3, (12, 60))
    variants[0] -= 0.1 * labels
    both = OfMetric("pearson", labels), baseline[None], variants
    observed = both[0].observed(*both[1:])
    tests = [
        randomisation.smallest_p(observed, both[0].swapped(*both[1:], 1000, seed))
        for seed in range(60)
    ]
    corrected = np.array([test.corrected for test in tests])
    error = np.array([test.error for test in tests]).mean(axis=0)
    best = corrected.mean(axis=0).argmin()
    assert 0.01 < corrected[:, best].mean() < 0.2
    assert corrected[:, best].std(ddof=1) == pytest.approx(error[best], rel=0.3)
    of_share = np.sqrt(corrected[:, best].mean() / 1000)
    assert error[best] > 1.5 * of_share


@pytest.mark.parametrize(
    ("p", "error", "taken"),
    [(0.06, 0.012, 4001), (0.03, 0.003, 1000), (0.2, 0.04, 1000), (0.04, 0.1, 4194)],
)
def test_undecided_p_values_become_precise(p: float, error: float, taken: int) -> None:
    """Twice the error takes four times the draws; those decided or precise take no more."""

    def tested(draws: int) -> randomisation.Test:
        numbers.append(draws)
        of = error * (1000 / draws) ** 0.5
        return randomisation.Test(np.array([p]), np.array([p]), np.array([of]), 0.0)

    numbers: list[int] = []
    randomisation.precise(tested, 1000, n_variants=2000)
    assert numbers[-1] == taken


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


SETS = 20


def quiet(metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, baseline and 15 variants without an effect."""
    rng = np.random.default_rng(5)
    if metric in ("accuracy", "f1", "matthews"):
        return study(150, [0.03] * 15, 0, rng)
    labels = rng.normal(size=150)
    noise = labels + rng.normal(0, 0.5, (16, 150)) * np.where(np.arange(16) < 16, 0.3, 0)[:, None]
    return labels, noise[0], noise[1:]


@pytest.mark.parametrize("metric", ["f1", "pearson"])
def test_such_a_loss_is_found_and_half_of_it_is_not(metric: str) -> None:
    """In plain loops a variant is broken until it has lost so much, and the whole test is made."""
    labels, baseline, variants = quiet(metric)
    compared = OfMetric(metric, labels)
    classes = metric in ("accuracy", "f1", "matthews")
    breaks = randomisation.made_wrong(labels) if classes else randomisation.less_alike(labels)
    critical = randomisation.test(compared, baseline, variants, 1000, 1).critical
    loss = randomisation.smallest_loss(compared, baseline, variants, breaks, critical, 1)
    rng = np.random.default_rng(8)
    shares = []
    for aim in (0.5 * loss, 1.1 * loss):
        found = 0
        for number in range(SETS):
            swapped = rng.random(len(labels)) < 0.5
            chosen = variants[number % len(variants)]
            plain = np.where(swapped, chosen, baseline)
            broken = np.where(swapped, baseline, chosen)
            before = compared.observed(plain[None], broken[None])[0]
            slope = np.polyfit(labels, broken, 1)[0]
            for example in rng.permutation(len(labels)):
                if classes:
                    broken[example] = 1 - labels[example]
                else:
                    broken = broken - 0.01 * slope * labels
                if before - compared.observed(plain[None], broken[None])[0] >= aim:
                    break
            tested = randomisation.test(
                compared, plain, np.concatenate([broken[None], variants[:14]]), 1000, number
            )
            found += tested.corrected[0] < 0.05
        shares.append(found / SETS)
    assert shares[0] < 0.5
    assert shares[1] >= 0.65


def test_breaks_by_hand() -> None:
    labels = np.array([0, 1, 2, 0])
    predicted = np.array([[0, 1, 0, 2], [0, 1, 2, 0]])
    order = np.array([[0, 2, 1, 3], [1, 3, 0, 2]])
    broken = randomisation.made_wrong(labels)(predicted, order, 0.5)
    assert broken.tolist() == [[2, 1, 0, 2], [0, 0, 2, 2]]
    labels, noise = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.3, -0.3, -0.3, 0.3])
    broken = randomisation.less_alike(labels)((2 * labels + noise)[None], order[:1], 0.25)[0]
    # Noise that is linear in nothing stays; a quarter of the slope goes, around the mean.
    assert broken == pytest.approx(1.5 * labels + 0.75 + noise)
    whole = randomisation.less_alike(labels)((2 * labels + noise)[None], order[:1], 1.0)[0]
    assert np.corrcoef(whole, labels)[0, 1] == pytest.approx(0, abs=1e-6)


def slow_mean(sets: list[np.ndarray], weights: np.ndarray, chosen: tuple[int, ...]) -> np.ndarray:
    """The weighted mean excess of the chosen members, [family, head]."""
    total = 0
    for values, weight, place in zip(sets, weights, chosen, strict=True):
        others = [value for number, value in enumerate(values) if number != place]
        total = total + weight * (values[place] - np.mean(others, axis=0))
    return total


def made_up(rng: np.random.Generator, n: int, heads: int, families: int = 1) -> list[np.ndarray]:
    """Sets of two to five members, whose values have long tails and something in common."""
    sets = []
    for _ in range(n):
        shape = (int(rng.integers(2, 6)), families, heads)
        sets.append(np.exp(0.7 * (rng.normal(size=(shape[0], 1, 1)) + rng.normal(size=shape))))
    return sets


def test_p_values_by_a_plain_loop() -> None:
    rng = np.random.default_rng(4)
    sets = made_up(rng, 9, 4, families=2)
    for values in sets:
        values[0, :, 0] += 1.5
        values[0, :, 3] += 0.8
    weights = rng.random(9)
    observed = np.abs(slow_mean(sets, weights, (0,) * 9))
    n_members = np.array([len(values) for values in sets])
    rows = np.concatenate(list(sampled_members(n_members, 700, 7)))  # more than one block
    assert len(rows) == 700
    assert (rows.max(axis=0) == n_members - 1).all()
    sampled = [np.abs(slow_mean(sets, weights, tuple(row))) for row in rows]
    p, corrected = matched_p_values(sets, weights, 700, 7)
    for family in range(2):
        null = np.array([draw[family] for draw in sampled])
        expected = plain_smallest_p(observed[family], null)
        np.testing.assert_allclose([p[family], corrected[family]], expected)
    assert len(set(corrected.ravel())) > 2


def test_the_family_wise_error_is_kept_for_few_sets_with_long_tails() -> None:
    rng = np.random.default_rng(2)
    alone = together = 0
    for seed in range(200):
        p, corrected = matched_p_values(made_up(rng, 25, 20), np.full(25, 1 / 25), 999, seed)
        assert (corrected >= p - 1e-12).all()
        alone += bool((p < 0.05).any())
        together += bool((corrected < 0.05).any())
    assert alone > 0.3 * 200  # twenty tests at 5% each
    assert together < 0.09 * 200  # 5% but for chance


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_every_assignment_of_signs_counts(n: int) -> None:
    """Ties, a sum of 0 and negative sums among them."""
    rng = np.random.default_rng(n)
    differences = np.column_stack(
        [rng.normal(size=n), rng.integers(-2, 3, n), np.zeros(n), -rng.random(n), rng.random(n)]
    )
    expected = []
    for column in differences.T:
        sums = [abs(np.dot(signs, column)) for signs in product([1, -1], repeat=n)]
        expected.append(np.mean([size >= abs(column.sum()) - 1e-9 for size in sums]))
    np.testing.assert_allclose(sign_flip_p(differences), expected, rtol=1e-12)


def test_twenty_equal_signs_have_the_smallest_p() -> None:
    assert sign_flip_p(np.full((20, 1), 0.3)).tolist() == [2 / 2**20]


def test_p_values_corrected_by_holm() -> None:
    """0.01 by 4, 0.02 by 3, 0.03 by 2 makes no less than 0.06, and an unknown p is 1."""
    found = holm(np.array([0.02, 0.01, math.nan, 0.03]))
    assert found.tolist() == pytest.approx([0.06, 0.04, 1, 0.06])
    assert holm(np.array([])).tolist() == []
