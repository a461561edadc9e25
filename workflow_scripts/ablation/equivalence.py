"""Whether a loss is excluded: intervals over examples against a bound that the study names.

That a difference is not significant shows no absence. Here the mean effect of some heads counts as
equivalent to none where its whole 90% interval lies within the bound: two one-sided tests at 5%.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.randomisation import LEVEL

KEYS = ["layer", "head"]
OTHER_KEYS = ["other_layer", "other_head"]
Z = NormalDist().inv_cdf(1 - LEVEL)


def covariance_of(paths: Sequence[Path], mode: str, task: str, n: int) -> np.ndarray:
    """Covariance over samples of `n` examples of the heads' effects on a task, [head, head].

    The mean over seeds, as if another seed added nothing about the examples. One example that
    gets better and one that gets worse are added to each head's (Bonett and Price 2012): that no
    example changed shows little where there are few.
    """
    frame = tables.read_all(paths, (*KEYS, *OTHER_KEYS, "task", "mode", "covariance"))
    frame = frame[(frame["mode"] == mode) & (frame["task"] == task)]
    matrix = frame.pivot_table(index=KEYS, columns=OTHER_KEYS, values="covariance").to_numpy()
    return matrix + np.eye(len(matrix)) * 2 / (n + 2) ** 2


def interval(
    effects: np.ndarray, covariance: np.ndarray, chosen: np.ndarray
) -> tuple[float, float]:
    """Ends of the 90% interval of the mean effect of the chosen heads, over examples."""
    mean = effects[chosen].mean()
    error = np.sqrt(covariance[np.ix_(chosen, chosen)].mean())
    return mean - Z * error, mean + Z * error


def verdict(low: float, high: float, bound: float, significant: bool | None = None) -> str:
    """What an interval of an effect shows: equivalent, loss, gain, or cannot tell.

    An effect counts as a loss or a gain where it is significant, or, where no test is given, where
    the interval excludes 0; but as equivalent to none where it surely is within the bound.
    """
    if -bound <= low and high <= bound:
        return "equivalent"
    if significant if significant is not None else low > 0 or high < 0:
        return "loss" if low + high < 0 else "gain"
    return "cannot tell"
