"""Bootstrap samples as weights of examples, and the intervals that come from them.

A weight is how often its example was sampled; every variant is scored on the same samples (paired).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.metrics import weighted_scores

CONFIDENCE = (2.5, 97.5)  # percentiles of an interval's ends
# Random divisions of a bootstrap sample, averaged: one alone would add its own noise.
DIVISIONS_OF_SAMPLE = 8

# Scores [draw, variant], the baseline's first, of weights [draw, example]; more is better.
Scores = Callable[[np.ndarray], np.ndarray]


@lru_cache(maxsize=1)
def bootstrap_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """How often each of `n` examples is sampled with replacement, int [draw, example], read-only.

    A table's intervals are of the same samples, which are made once.
    """
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    weights.flags.writeable = False
    return weights


def document_weights(documents: Sequence[str], draws: int, seed: int) -> np.ndarray:
    """How often each example is sampled where whole documents are: int [draw, example].

    `documents` holds the document of each example. Examples of one document are alike, so they are
    sampled together (the cluster bootstrap: Davison and Hinkley 1997, section 3.8). Where every
    example has a document of its own, these are the weights of `bootstrap_weights`.
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    return bootstrap_weights(len(names), draws, seed)[:, codes]


def observed_and_resampled(n: int, draws: int, seed: int) -> np.ndarray:
    """The weights of the observed sample, all 1, above those of `draws` bootstrap samples."""
    return np.concatenate([np.ones((1, n), int), bootstrap_weights(n, draws, seed)])


def half_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """1 for the examples of a random half, else 0: int [draw, example]."""
    return _first_halves(np.ones((draws, n), int), seed)


def honest_gain(scores: Scores, n: int, divisions: int, draws: int, seed: int) -> dict[str, float]:
    """The gain of the best variant over the baseline, on examples that did not choose it.

    In every division the best variant on one half of the `n` examples is measured against the
    baseline on the other half, and vice versa; `gain` is the mean over divisions. `naive` chooses
    and measures on all examples.

    `gain_low` and `gain_high` are the 95% interval over examples: `draws` bootstrap samples each
    choose and measure anew, on halves that share no example. Such halves hold fewer distinct
    examples, which choose less well, so percentiles are also taken around `gain` (Davison and
    Hinkley 1997, section 5.2); the interval holds both, so that none of them decides a verdict.
    """
    gain = float(_held_out(scores, np.ones((divisions, n), int), seed).mean())
    weights = bootstrap_weights(n, draws, seed)
    sampled = np.mean(
        [_held_out(scores, weights, seed + 1 + k) for k in range(DIVISIONS_OF_SAMPLE)], axis=0
    )
    low, high = np.percentile(sampled, CONFIDENCE)
    bias = float(sampled.mean()) - gain
    low, high = min(low, low - bias), max(high, high - bias)
    whole = scores(np.ones((1, n)))[0]
    naive = float(whole[1:].max() - whole[0])
    return {"naive": naive, "gain": gain, "gain_low": float(low), "gain_high": float(high)}


def _held_out(scores: Scores, weights: np.ndarray, seed: int) -> np.ndarray:
    """The gain on examples that did not choose the variant, mean of both ways round: [draw]."""
    one, other = _on_halves(scores, weights, seed)
    draw = np.arange(len(weights))
    gains = [
        measured[draw, 1 + chosen[:, 1:].argmax(axis=1)] - measured[:, 0]
        for chosen, measured in ((one, other), (other, one))
    ]
    return np.mean(gains, axis=0)


def half_agreement(scores: Scores, n: int, draws: int, seed: int) -> dict[str, float]:
    """How well effects measured on one half of `n` examples agree with those on the other half.

    Pearson's and Spearman's correlation over variants, means over `draws` random divisions, with
    the 2.5th and 97.5th percentiles: noise in the effects keeps them below 1.
    """
    halves = _on_halves(scores, np.ones((draws, n), int), seed)
    one, other = (of_half[:, 1:] - of_half[:, :1] for of_half in halves)
    columns = {}
    for name in ("pearson", "spearman"):
        pairs = zip(one, other, strict=True)
        values = [weighted_scores(name, x, y[None], np.ones((1, len(x))))[0, 0] for x, y in pairs]
        low, high = np.percentile(values, CONFIDENCE)
        columns |= {name: float(np.mean(values)), f"{name}_low": low, f"{name}_high": high}
    return columns


def correlations(x: np.ndarray, y: np.ndarray, draws: int, seed: int) -> dict[str, float | int]:
    """Pearson's and Spearman's correlation over paired values, with 95% bootstrap intervals."""
    weights = observed_and_resampled(len(x), draws, seed)
    columns: dict[str, float | int] = {}
    for metric in ("pearson", "spearman"):
        values = weighted_scores(metric, x, y[None], weights)[:, 0]
        columns[metric] = float(values[0])
        columns[f"{metric}_low"], columns[f"{metric}_high"] = np.percentile(values[1:], CONFIDENCE)
    return columns | {"n": len(x)}


def _on_halves(scores: Scores, weights: np.ndarray, seed: int) -> list[np.ndarray]:
    """Scores on random halves of the weighted examples, and on the others: each [draw, variant]."""
    half = _first_halves(weights, seed)
    return [scores(weights * part) for part in (half, 1 - half)]


def _first_halves(weights: np.ndarray, seed: int) -> np.ndarray:
    """1 for a random half of the examples that have a weight, else 0: int [draw, example]."""
    draws, n = weights.shape
    order = np.random.default_rng(seed).random((draws, n)).argsort(axis=1)
    has_weight = weights > 0
    ranks = np.where(has_weight, order, n + order).argsort(axis=1).argsort(axis=1)
    return (ranks < has_weight.sum(axis=1, keepdims=True) // 2).astype(int)
