"""Accuracies from counts per sentence or text: intervals, and best heads on held-out units.

A unit is a document, sentence or text, resampled and split as a whole. Correct predictions are
counted as [unit, ..., kind] and all as [unit, kind], where the axes between are e.g. layer, head.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.resampling import (
    CONFIDENCE,
    DIVISIONS_OF_SAMPLE,
    bootstrap_weights,
    observed_and_resampled,
)


def units(documents: Sequence[str]) -> np.ndarray:
    """Number of the unit of each example, int [example], for the document of each.

    Examples of one document are alike, so documents are the units; where all examples are of one
    document, each of them is a unit.
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    return codes if len(names) > 1 else np.arange(len(documents))


def accuracy(
    correct: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy and both ends of its 95% bootstrap interval over units, each [..., kind].

    Whole units are resampled. All are NaN where a kind never occurs, the ends also
    where it occurs in one unit alone.
    """
    n = len(correct)
    weights = bootstrap_weights(n, draws, seed).astype(np.float64)  # fast, and still exact
    shape = correct.shape[1:]
    mean, low, high = (np.full(shape, np.nan) for _ in range(3))
    for kind in np.flatnonzero(total.sum(axis=0)):
        mean[..., kind] = correct[..., kind].sum(axis=0, dtype=np.int64) / total[:, kind].sum()
        if np.count_nonzero(total[:, kind]) < 2:
            continue
        resampled_total = weights @ total[:, kind]
        resampled = weights @ correct[..., kind].reshape(n, -1).astype(np.float64)
        known = resampled_total > 0
        ends = np.percentile(resampled[known] / resampled_total[known, None], CONFIDENCE, axis=0)
        low[..., kind], high[..., kind] = ends.reshape(2, *shape[:-1])
    return mean, low, high


class HeldOut(NamedTuple):
    """The best head of a kind on one half of the units, and its accuracy on the other half."""

    index: tuple[int, ...]  # of the axes between unit and kind
    accuracy: float  # NaN where the kind does not occur in the other half
    n: int


def random_halves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The indices of a random half of `n` units, and those of the others."""
    order = np.random.default_rng(seed).permutation(n)
    return order[: n // 2], order[n // 2 :]


def held_out(correct: np.ndarray, total: np.ndarray, seed: int) -> list[HeldOut]:
    """For each kind the best head on a random half of the units, measured on the other half."""
    halves = random_halves(len(correct), seed)
    chosen, scored = (correct[half].sum(axis=0, dtype=np.int64) for half in halves)
    rows = []
    for kind, n in enumerate(total[halves[1]].sum(axis=0)):
        best = np.unravel_index(chosen[..., kind].argmax(), chosen.shape[:-1])
        score = scored[(*best, kind)] / n if n else np.nan
        rows.append(HeldOut(tuple(map(int, best)), score, int(n)))
    return rows


class Gain(NamedTuple):
    """How much more often the best head is right than the best baseline, as a share."""

    gain: float  # NaN where each division has a half that lacks the kind
    low: float  # ends of the 95% interval; NaN where fewer than four units have the kind
    high: float
    p: float  # two-sided, of no gain; NaN where the interval is


def held_out_gains(
    correct: np.ndarray, baselines: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> list[Gain]:
    """For each kind what the best head gains over the best baseline on units that chose neither.

    Both are chosen on one of `random_halves` and measured on the other, and the other way round;
    the gain is over the units of both, and the mean of DIVISIONS_OF_SAMPLE such divisions, seeded
    from `seed` on, without those where a half lacks the kind. `baselines` is
    [unit, baseline, kind], of the same predictions as `correct`. In each bootstrap sample of whole
    units they are chosen and measured anew in each division; copies of a unit stay in its half.
    Samples hold fewer distinct units, which choose less well, so they are moved by what their mean
    gain differs from `gain` (Davison and Hinkley 1997, section 5.2). `p` is twice the share of
    moved samples that have the rarer sign or are 0.
    """
    n = len(correct)
    divisions = [random_halves(n, seed + k)[0] for k in range(DIVISIONS_OF_SAMPLE)]
    weights = observed_and_resampled(n, draws, seed).astype(np.float64)  # fast, and still exact
    gains = []
    for kind in range(total.shape[1]):
        hits = [part[..., kind].reshape(n, -1).astype(np.float64) for part in (correct, baselines)]
        words, right = weights @ total[:, kind], [weights @ part for part in hits]
        summed, known = np.zeros(draws + 1), np.zeros(draws + 1, int)
        for half in divisions:
            size = weights[:, half] @ total[half, kind]  # words of the half [draw]
            one = [weights[:, half] @ part[half] for part in hits]  # [draw, head or baseline]
            other = [whole - part for whole, part in zip(right, one, strict=True)]
            in_both = (size > 0) & (size < words)
            summed += np.where(in_both, _gained(one, other) + _gained(other, one), 0)
            known += in_both
        share = summed / np.where(known > 0, known * words, np.nan)
        resampled, low, high, p = share[1:][known[1:] > 0], np.nan, np.nan, np.nan
        if known[0] and np.count_nonzero(total[:, kind]) > 3:
            resampled += share[0] - resampled.mean()
            low, high = np.percentile(resampled, CONFIDENCE)
            beyond = min((resampled <= 0).sum(), (resampled >= 0).sum())
            p = min(1.0, 2 * (1 + beyond) / (1 + len(resampled)))
        gains.append(Gain(*map(float, (share[0], low, high, p))))
    return gains


def _gained(chosen: Sequence[np.ndarray], measured: Sequence[np.ndarray]) -> np.ndarray:
    """By how many words the best head beats the best baseline: [draw].

    Both parts have the words that heads and that baselines get right, each [draw, head or
    baseline]; one part chooses, the other measures.
    """
    head, baseline = (
        np.take_along_axis(score, choice.argmax(axis=1)[:, None], axis=1)[:, 0]
        for choice, score in zip(chosen, measured, strict=True)
    )
    return head - baseline
