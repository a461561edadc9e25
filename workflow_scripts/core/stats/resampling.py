"""Scores under resampling: weights of examples stand for the samples that are drawn.

A weight is how often its example was drawn, so that one matrix product scores all samples of all
variants, and every variant is scored on the same samples (paired).
"""

from collections.abc import Callable

import numpy as np

CONFIDENCE = (2.5, 97.5)  # percentiles of an interval's ends


def bootstrap_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """How often each of `n` examples is drawn with replacement, int [draw, example]."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)


def observed_and_drawn(n: int, draws: int, seed: int) -> np.ndarray:
    """The weights of the observed sample, all 1, above those of `draws` bootstrap samples."""
    return np.concatenate([np.ones((1, n), int), bootstrap_weights(n, draws, seed)])


def half_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """1 for the examples of a random half, else 0: int [draw, example]."""
    ranks = np.random.default_rng(seed).random((draws, n)).argsort(axis=1)
    return (ranks < n // 2).astype(int)


def weighted_scores(
    metric: str, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The metric of every variant on every sample, [draw, variant].

    `labels` [example], `predictions` [variant, example], `weights` [draw, example]. A correlation
    of what does not vary is 0, as is F1 where class 1 is neither right nor predicted.
    """
    return _SCORES[metric](np.asarray(labels), np.asarray(predictions), weights.astype(float))


def p_values(effects: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values that effects are 0, and the same corrected for their number, [variant].

    `drawn` [draw, variant] holds the effects on bootstrap samples. Both compare each effect, over
    its standard error, with the drawn effects around it; the corrected one with the largest of all
    variants in a draw (Westfall and Young's single-step max-T). An effect that never varies
    has p = 1.
    """
    spread = drawn.std(axis=0)
    varies = spread > 1e-12
    spread = np.where(varies, spread, 1.0)
    size = np.where(varies, np.abs(effects) / spread, 0.0)
    null = np.where(varies, np.abs(drawn - effects) / spread, 0.0)
    largest = null.max(axis=1, keepdims=True)
    tolerance = 1e-9  # equal up to rounding counts as as large
    alone = _share(null >= size - tolerance)
    together = _share(largest >= size - tolerance)
    return np.where(varies, alone, 1.0), np.where(varies, together, 1.0)


def honest_gain(
    metric: str,
    labels: np.ndarray,
    baseline: np.ndarray,
    predictions: np.ndarray,
    draws: int,
    seed: int,
) -> dict[str, float]:
    """What the best variant gains where it was not chosen.

    In every draw the best variant on one half of the examples is measured against the baseline on
    the other half, and the other way round. `gain` is the mean over draws, `gain_low` and
    `gain_high` hold 95% of the draws; `naive` chooses and measures on all examples.
    """
    one = half_weights(len(labels), draws, seed)
    both = np.concatenate([baseline[None], predictions])
    halves = [weighted_scores(metric, labels, both, half) for half in (one, 1 - one)]
    whole = weighted_scores(metric, labels, both, np.ones((1, len(labels))))[0]
    gains = []
    for chosen, measured in (halves, halves[::-1]):
        best = 1 + chosen[:, 1:].argmax(axis=1)
        gains.append(measured[np.arange(draws), best] - measured[:, 0])
    gain = np.mean(gains, axis=0)
    low, high = np.percentile(gain, CONFIDENCE)
    naive = float(whole[1:].max() - whole[0])
    return {"naive": naive, "gain": float(gain.mean()), "gain_low": low, "gain_high": high}


def correlations(
    one: np.ndarray, other: np.ndarray, draws: int, seed: int
) -> dict[str, float | int]:
    """Pearson's and Spearman's correlation over paired values, with 95% bootstrap intervals."""
    weights = observed_and_drawn(len(one), draws, seed)
    found: dict[str, float | int] = {}
    for metric in ("pearson", "spearman"):
        values = weighted_scores(metric, one, other[None], weights)[:, 0]
        found[metric] = float(values[0])
        found[f"{metric}_low"], found[f"{metric}_high"] = np.percentile(values[1:], CONFIDENCE)
    return found | {"n": len(one)}


def _share(exceeds: np.ndarray) -> np.ndarray:
    """Share of draws at least as extreme, the observation itself counted among them."""
    return (1 + exceeds.sum(axis=0)) / (1 + len(exceeds))


def _accuracy(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights @ (predictions == labels).T / weights.sum(axis=1, keepdims=True)


def _f1(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right = weights @ ((predictions == 1) & (labels == 1)).T
    either = weights @ (predictions == 1).T + (weights @ (labels == 1))[:, None]
    return np.divide(2 * right, either, out=np.zeros_like(right), where=either > 0)


def _pearson(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    one = np.broadcast_to(labels, predictions.shape)
    return np.stack([_correlate(a, b, weights) for a, b in zip(one, predictions, strict=True)], 1)


def _spearman(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    ranks = _ranks(labels, weights)
    scores = [_correlate(ranks, _ranks(one, weights), weights) for one in predictions]
    return np.stack(scores, axis=1)


def _correlate(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Correlation under each row of weights, [draw]; values [example] or [draw, example]."""
    total = weights.sum(axis=1, keepdims=True)
    one = one - (weights * one).sum(axis=1, keepdims=True) / total
    other = other - (weights * other).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1))
    product = (weights * one * other).sum(axis=1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 1e-12)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mid-ranks of the values within each sample, [draw, example]."""
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.zeros((len(weights), len(distinct)))
    np.add.at(counts.T, place, weights.T)
    return (counts.cumsum(axis=1) - (counts - 1) / 2)[:, place]


_SCORES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "pearson": _pearson,
    "spearman": _spearman,
}
