"""A paired randomisation test of many variants against one baseline, corrected for their number.

In each draw a random set of examples swaps the baseline's and the variant's predictions, the same
set for all variants, and both are scored anew. Without an effect, what was observed is one more
draw. docs/statistics.md states how often it errs and what it finds.
"""

import logging
from dataclasses import dataclass

import numpy as np

from workflow_scripts.core.stats.swaps import Compared

log = logging.getLogger(__name__)

LEVEL = 0.05  # of the corrected p-values
TOLERANCE = 1e-9  # effects that are equal up to rounding count as equally large


@dataclass(frozen=True)
class Test:
    """Two-sided p-values [variant], alone and corrected for all variants; the critical p-value.

    One more variant would be significant among these if its p-value alone were at most `critical`.
    """

    p: np.ndarray
    corrected: np.ndarray
    critical: float


def test(
    compared: Compared, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
) -> Test:
    """The test that variants [variant, example, ...] score as the baseline [example, ...] does.

    A variant that changes no prediction has p = 1.
    """
    if 1 + len(variants) >= LEVEL * (1 + draws):
        # Each variant has its own largest draw, so about as many draws have the smallest p.
        log.warning(
            "%d permutations are too few for %d variants: even the largest effect may have a"
            " corrected p above %g; set permutations to %d",
            *(draws, len(variants), LEVEL, 100 * (1 + len(variants))),
        )
    observed = compared.observed(baseline[None], variants)
    return smallest_p(observed, compared.swapped(baseline[None], variants, draws, seed))


def smallest_p(effects: np.ndarray, null_effects: np.ndarray) -> Test:
    """The p-values of effects [variant] among those of no effect, `null_effects` [draw, variant].

    p is the share of draws, the observed one among them, whose effect is at least as large either
    way. It is corrected by the smallest p of all variants in a draw, step-down (Westfall and Young
    1993, algorithm 2.8): each variant is compared with the smallest p of itself and of those that
    are less significant.
    """
    sizes = np.abs(np.concatenate([effects[None], null_effects]))
    p = np.empty_like(sizes)
    for column, size in enumerate(sizes.T):
        p[:, column] = len(size) - np.searchsorted(np.sort(size), size - TOLERANCE)
    p /= len(sizes)
    order = p[0].argsort(kind="stable")
    smallest = np.minimum.accumulate(p[:, order[::-1]], axis=1)[:, ::-1]
    shares = (smallest <= p[0, order] + TOLERANCE).mean(axis=0)
    corrected = np.empty_like(shares)
    corrected[order] = np.maximum.accumulate(shares)
    return Test(p[0], corrected, _critical(smallest[:, 0]))


def _critical(least: np.ndarray) -> float:
    """The largest x for which a draw seldom has a p up to x, given the smallest p of each draw.

    One more variant has a p up to x in a share x of the draws: together, less than LEVEL.
    """
    values, counts = np.unique(least, return_counts=True)
    below = np.concatenate([[0], counts.cumsum()[:-1]]) / len(least)
    x = np.minimum(values, LEVEL - below) - TOLERANCE
    return float(x[x > np.concatenate([[0.0], values[:-1]])].max(initial=0.0))
