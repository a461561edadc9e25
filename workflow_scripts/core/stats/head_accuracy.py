"""Accuracies from counts per sentence or text: intervals, and best heads on held-out units.

A unit is a document, sentence or text, resampled and split as a whole. Correct predictions are
counted as [unit, ..., kind] and all as [unit, kind], where the axes between are e.g. layer, head.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights


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


def held_out(correct: np.ndarray, total: np.ndarray, seed: int) -> list[HeldOut]:
    """For each kind the best head on a random half of the units, measured on the other half."""
    order = np.random.default_rng(seed).permutation(len(correct))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    chosen, scored = (correct[half].sum(axis=0, dtype=np.int64) for half in halves)
    rows = []
    for kind, n in enumerate(total[halves[1]].sum(axis=0)):
        best = np.unravel_index(chosen[..., kind].argmax(), chosen.shape[:-1])
        score = scored[(*best, kind)] / n if n else np.nan
        rows.append(HeldOut(tuple(map(int, best)), score, int(n)))
    return rows
