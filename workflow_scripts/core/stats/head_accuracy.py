"""Accuracies counted in sentences or texts: intervals, and best heads chosen on other ones.

Counts are [unit, ..., kind], a unit being what is drawn and split as a whole, and totals
[unit, kind].
"""

import numpy as np

from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights


def accuracy(
    found: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy and both ends of its 95% bootstrap interval over units, each [..., kind].

    Whole units are drawn with replacement. All are NaN where a kind never occurs.
    """
    n = len(found)
    weights = bootstrap_weights(n, draws, seed).astype(
        np.float64
    )  # floats multiply fast, and these are exact
    shape = found.shape[1:]
    mean, low, high = (np.full(shape, np.nan) for _ in range(3))
    for kind in np.flatnonzero(total.sum(axis=0)):
        drawn_total = weights @ total[:, kind]
        drawn = weights @ found[..., kind].reshape(n, -1).astype(np.float64)
        known = drawn_total > 0
        ends = np.percentile(drawn[known] / drawn_total[known, None], CONFIDENCE, axis=0)
        low[..., kind], high[..., kind] = ends.reshape(2, *shape[:-1])
        mean[..., kind] = found[..., kind].sum(axis=0, dtype=np.int64) / total[:, kind].sum()
    return mean, low, high


def held_out(
    found: np.ndarray, total: np.ndarray, seed: int
) -> list[tuple[tuple[int, ...], float, int]]:
    """For each kind the best place on one half of the units, and its score on the other half.

    A place is an index of the axes between unit and kind. With it stand its accuracy on the other
    half, NaN where the kind does not occur there, and the other half's total.
    """
    order = np.random.default_rng(seed).permutation(len(found))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    chosen, scored = (found[half].sum(axis=0, dtype=np.int64) for half in halves)
    rows = []
    for kind, n in enumerate(total[halves[1]].sum(axis=0)):
        best = np.unravel_index(chosen[..., kind].argmax(), chosen.shape[:-1])
        right = scored[(*best, kind)]
        rows.append((tuple(map(int, best)), right / n if n else np.nan, int(n)))
    return rows
