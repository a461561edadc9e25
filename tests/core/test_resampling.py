"""Weights, gains and correlations, against plain loops and simulations with a known truth."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from tests.core.builders import labels_and_predictions
from workflow_scripts.core.stats import bootstrap
from workflow_scripts.core.stats.metrics import METRICS, weighted_scores


def scoring(
    metric: str, labels: np.ndarray, baseline: np.ndarray, variants: np.ndarray
) -> bootstrap.Scores:
    """A metric of the baseline [example] and its variants [variant, example]."""
    both = np.concatenate([baseline[None], variants])
    return partial(weighted_scores, metric, labels, both)


def test_weights() -> None:
    weights = bootstrap.bootstrap_weights(10, 50, 1)
    assert weights.shape == (50, 10)
    assert (weights.sum(axis=1) == 10).all()
    halves = bootstrap.half_weights(11, 50, 1)
    assert (halves.sum(axis=1) == 5).all()
    assert set(np.unique(halves)) == {0, 1}
    assert len(np.unique(halves, axis=0)) > 40


def test_the_honest_gain_of_noise_is_none() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 200)
    baseline = np.where(rng.random(200) < 0.8, labels, 1 - labels)
    noise = np.where(rng.random((50, 200)) < 0.8, labels, 1 - labels)
    predictions = np.where(rng.random((50, 200)) < 0.2, noise, baseline)
    actual = bootstrap.honest_gain(
        scoring("accuracy", labels, baseline, predictions), 200, 200, 50, 1
    )
    assert actual["naive"] > 0.02
    assert abs(actual["gain"]) < 0.5 * actual["naive"]
    better = np.where(rng.random(200) < 0.5, labels, baseline)
    more = scoring("accuracy", labels, baseline, np.concatenate([predictions, better[None]]))
    actual = bootstrap.honest_gain(more, 200, 200, 200, 1)
    true = float((better == labels).mean() - (baseline == labels).mean())
    assert actual["gain"] == pytest.approx(true, abs=0.02)
    assert actual["gain_low"] <= actual["gain"] <= actual["gain_high"]


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
    actual = bootstrap.honest_gain(scoring("f1", labels, baseline, variants), 21, 9, 5, 3)
    assert actual["gain"] == pytest.approx(np.mean(gains))


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
    actual = bootstrap.honest_gain(of_f1, n, 9, draws, seed)
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
        gain = bootstrap.honest_gain(of_all, 120, 50, 200, 1)
        held += gain["gain_low"] <= 0.15 <= gain["gain_high"]
        gain = bootstrap.honest_gain(of_noise, 120, 50, 200, 1)
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
    actual = bootstrap.half_agreement(scoring("accuracy", labels, baseline, variants), 21, 7, 3)
    assert actual["pearson"] == pytest.approx(np.mean(pearson))
    assert actual["spearman"] == pytest.approx(np.mean(spearman))
    assert actual["pearson_low"] == pytest.approx(np.percentile(pearson, 2.5))
    assert actual["spearman_high"] == pytest.approx(np.percentile(spearman, 97.5))


def test_true_effects_agree_between_halves_and_noise_does_not() -> None:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 4000)
    flips = np.linspace(0, 0.5, 12)[:, None]
    true = np.where(rng.random((12, 4000)) < flips, 1 - labels, labels)
    noise = np.where(rng.random((12, 4000)) < 0.2, 1 - labels, labels)
    agreement = [
        bootstrap.half_agreement(scoring("accuracy", labels, labels, variants), 4000, 50, 1)[
            "pearson"
        ]
        for variants in (true, noise)
    ]
    assert agreement[0] > 0.98
    assert agreement[1] < 0.3
