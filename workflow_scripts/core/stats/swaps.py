"""Scores of mixed predictions: on a random set of examples, baseline and variant are swapped."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from workflow_scripts.core.stats.metrics import SUMS, weighted_scores

CORRELATIONS = ("pearson", "spearman")  # do not change with the scale of predictions
CELLS = 1 << 19  # examples times draws that are swapped at once: intermediate results stay small


class Compared(Protocol):
    """How variants are compared with a baseline.

    Variants are [variant, example, ...]; the baseline [1, example, ...], or one for each variant.
    """

    def observed(self, baseline: np.ndarray, variants: np.ndarray) -> np.ndarray:
        """Score of each variant minus its baseline's, [variant]."""

    def swapped(
        self, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
    ) -> np.ndarray:
        """Score differences with the predictions of random examples swapped, [draw, variant]."""


@dataclass(frozen=True)
class OfSums:
    """A score of sums over examples, such as a mean, or BLEU from the counts of each sentence.

    `summands` makes [statistic, variant, example] of predictions, `score` the score [...] of their
    sums [statistic, ...].
    """

    summands: Callable[[np.ndarray], np.ndarray]
    score: Callable[[np.ndarray], np.ndarray]

    def observed(self, baseline: np.ndarray, variants: np.ndarray) -> np.ndarray:
        """Score of each variant minus its baseline's, [variant]."""
        return self.score(_sum(self.summands(variants))) - self.score(_sum(self.summands(baseline)))

    def swapped(
        self, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
    ) -> np.ndarray:
        """Score differences with the predictions of random examples swapped, [draw, variant].

        Swapped examples move from sum to sum.
        """
        of_baseline, of_variants = self.summands(baseline), self.summands(variants)
        gained = of_variants - of_baseline
        # Sums of small integers are exact in single precision, in which products take half as long.
        kind = np.float32 if np.issubdtype(gained.dtype, np.integer) else np.float64
        moving = [(at, part.T.astype(kind)) for at, part in enumerate(gained) if part.any()]
        before, after = _sum(of_baseline)[:, None], _sum(of_variants)[:, None]
        effects = []
        for swaps in swap_sets(gained.shape[-1], draws, seed):
            moved = np.zeros((len(gained), len(swaps), gained.shape[1]))
            for statistic, gains in moving:
                moved[statistic] = swaps.astype(kind) @ gains
            effects.append(self.score(after - moved) - self.score(before + moved))
        return np.concatenate(effects)


@dataclass(frozen=True)
class OfMetric:
    """A metric of labels [example] and predictions.

    Scores for a correlation are standardised before they are swapped: it does not depend on their
    scale, and vectors mixed of two scales would hide a difference.
    """

    metric: str
    labels: np.ndarray

    def observed(self, baseline: np.ndarray, variants: np.ndarray) -> np.ndarray:
        """Score of each variant minus its baseline's, [variant]."""
        once = np.ones((1, len(self.labels)))
        after, before = (
            weighted_scores(self.metric, self.labels, predictions, once)[0]
            for predictions in (variants, baseline)
        )
        return after - before

    def swapped(
        self, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
    ) -> np.ndarray:
        """Score differences with the predictions of random examples swapped, [draw, variant].

        By sums where the metric has them, Spearman's by ranks, else by weights.
        """
        if self.metric in CORRELATIONS:
            baseline, variants = (_standardised(scores) for scores in (baseline, variants))
        if self.metric in SUMS:
            sums = SUMS[self.metric]
            of_sums = OfSums(partial(sums.statistics, self.labels), sums.score)
            return of_sums.swapped(baseline, variants, draws, seed)
        pairs = list(zip(np.broadcast_to(baseline, variants.shape), variants, strict=True))
        ranked = self.metric == "spearman"
        gains = [rank_gains(self.labels, *pair) if ranked else None for pair in pairs]
        parts = []
        for swaps in swap_sets(len(self.labels), draws, seed):
            signs = np.where(swaps, -1.0, 1.0)
            effects = [
                self._mixed(*pair, swaps) if gain is None else signs @ gain
                for pair, gain in zip(pairs, gains, strict=True)
            ]
            parts.append(np.stack(effects, axis=1))
        return np.concatenate(parts)

    def _mixed(self, baseline: np.ndarray, variant: np.ndarray, swaps: np.ndarray) -> np.ndarray:
        """Effects [draw] of swaps in any metric: what a mixed vector holds weighs 1, the rest 0."""
        labels, both = np.tile(self.labels, 2), np.concatenate([baseline, variant])[None]
        of_variant, of_baseline = (
            weighted_scores(self.metric, labels, both, np.hstack([~inside, inside]))[:, 0]
            for inside in (~swaps, swaps)
        )
        return of_variant - of_baseline


def swap_sets(n: int, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Random sets of `n` examples, bool [some draws, example]: each example with probability 1/2.

    The sets depend on `n`, `draws` and `seed` alone.
    """
    packed = np.random.default_rng(seed).integers(0, 256, (draws, -(-n // 8)), dtype=np.uint8)
    step = max(1, CELLS // n)
    for start in range(0, draws, step):
        yield np.unpackbits(packed[start : start + step], axis=1, count=n).astype(bool)


def rank_gains(labels: np.ndarray, baseline: np.ndarray, variant: np.ndarray) -> np.ndarray | None:
    """What each example adds to Spearman's effect, or takes from it where swapped, [example].

    None where different examples have equal predictions. Without such ties the ranks of both mixed
    vectors have the same spread, and the effect is linear in what is swapped: of all values up to
    some value, those that are not in the one vector are in the other.
    """
    n = len(labels)
    values = np.concatenate([baseline, variant])
    order = values.argsort(kind="stable")
    example = order % n
    if ((np.diff(values[order]) == 0) & (np.diff(example) != 0)).any():
        return None
    _, index, counts = np.unique(labels, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - (counts - 1) / 2)[index] - (n + 1) / 2  # centred mid-ranks
    spread = np.sqrt((ranks**2).sum() * (n**3 - n) / 12)
    if spread == 0:
        return np.zeros(n)
    of_value = np.empty(2 * n)
    ranks = ranks[example]
    of_value[order] = ranks[::-1].cumsum()[::-1] + ranks * np.arange(1, 2 * n + 1)
    return (of_value[n:] - of_value[:n]) / (2 * spread)


def _standardised(scores: np.ndarray) -> np.ndarray:
    """Scores [variant, example] with mean 0 and standard deviation 1; 0 where all are equal."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    varies = np.ptp(scores, axis=1, keepdims=True) > 0
    return np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)


def _sum(statistics: np.ndarray) -> np.ndarray:
    return statistics.sum(axis=-1, dtype=np.float64)
