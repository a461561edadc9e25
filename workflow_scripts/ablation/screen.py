"""A screen: heads run exactly because an estimate ranks them first, and a random sample of others.

The sample estimates how many heads the screen misses: those outside the first that cost more than
the last of the costliest tenth found among the first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workflow_scripts.ablation.mode_agreement import interval, top_of
from workflow_scripts.core.stats import resampling


@dataclass(frozen=True)
class Screen:
    """The shares of all heads that are run exactly: the `first` by the estimate, and `random`."""

    first: float
    random: float
    seed: int

    def sizes(self, n_heads: int) -> tuple[int, int]:
        """How many of a model's `n_heads` are first, and how many of the others are sampled.

        Both are at least 1.
        """
        first = min(max(top_of(n_heads), round(self.first * n_heads)), n_heads - 1)
        return first, min(max(1, round(self.random * n_heads)), n_heads - first)

    def chosen(self, estimates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first heads of each draw and the sampled ones, of estimates [draw, head], as places.

        A head has one random number, so that draws in which the same heads are first sample the
        same others.
        """
        n_first, n_sampled = self.sizes(estimates.shape[1])
        order = np.argsort(-estimates, axis=1, kind="stable")
        number = np.random.default_rng(self.seed).random(estimates.shape[1])
        rest = order[:, n_first:]
        by_number = np.argsort(number[rest], axis=1)[:, :n_sampled]
        return order[:, :n_first], np.take_along_axis(rest, by_number, 1)


def screened(screen: Screen, estimates: np.ndarray, exact: np.ndarray) -> dict[str, Any]:
    """What a screen finds and misses, of estimates and exact effects [1 + draw, head].

    The first draw is observed, the others are bootstrap samples of texts. `above` of the `sampled`
    heads cost more than the last of the `top` costliest among the `first`; `missed`, estimated by
    their share, is how many of all heads outside the first do. Its interval holds the sampling of
    texts and that of heads (Jeffreys' prior on the share, of which the heads that were not sampled
    are binomial). `missed_share` is over the missed and the `top` found. With every head run,
    `true_missed` counts them, and `top_missed` the costliest tenth of all that is outside the
    first; their intervals hold the sampling of texts.
    """
    n_heads = exact.shape[1]
    top = top_of(n_heads)
    first, sampled = screen.chosen(estimates)
    of_first, of_sampled = (np.take_along_axis(exact, at, 1) for at in (first, sampled))
    last = -np.partition(-of_first, top - 1, axis=1)[:, top - 1 : top]
    above = (of_sampled > last).sum(1)
    n_first, n_sampled = first.shape[1], sampled.shape[1]
    rng = np.random.default_rng(screen.seed)
    share = rng.beta(above + 0.5, n_sampled - above + 0.5)
    not_run = n_heads - n_first - n_sampled
    missed = above + rng.binomial(not_run, share)
    estimate = above[0] * (n_heads - n_first) / n_sampled
    low, high = np.percentile(missed[1:], resampling.CONFIDENCE)
    ends = {"": estimate, "_low": min(low, estimate), "_high": max(high, estimate)}
    row = {"top": top, "first": n_first, "sampled": n_sampled, "above": int(above[0])}
    row |= {f"missed{end}": float(value) for end, value in ends.items()}
    row |= {f"missed_share{end}": float(value / (value + top)) for end, value in ends.items()}
    outside = np.ones(exact.shape, bool)
    np.put_along_axis(outside, first, False, 1)
    row |= interval("true_missed", ((exact > last) & outside).sum(1), (0, n_heads))
    costliest = np.argsort(-exact, axis=1, kind="stable")[:, :top]
    return row | interval("top_missed", np.take_along_axis(outside, costliest, 1).sum(1), (0, top))
