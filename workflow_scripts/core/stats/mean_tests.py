"""Tests that means over examples are 0, corrected for the number of heads by step-down max-T.

The null distribution is that of t in bootstrap samples around the observed mean (the studentised
bootstrap: Davison and Hinkley 1997, section 4.4; Westfall and Young 1993). Random signs, the
plainer test, assume that differences are symmetric, which those of attention are not.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.resampling import bootstrap_weights


def mean_p_values(
    values: np.ndarray, draws: int, seed: int, documents: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values that means are 0, and the same corrected for their number, [variant].

    `values` [example, variant] has no gaps. Examples are drawn with replacement, the same for all
    variants, or, with the document of each example, whole documents. A variant that never varies
    has p = 1.
    """
    names = np.arange(len(values)) if documents is None else np.asarray(documents, dtype=object)
    code = pd.factorize(names)[0]
    sizes = np.bincount(code).astype(float)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, code, values)
    mean = sums.sum(axis=0) / sizes.sum()
    weights = bootstrap_weights(len(sizes), draws, seed).astype(float)
    observed = np.abs(_t(np.ones((1, len(sizes))), sums, sizes, 0.0)[0])
    drawn = np.abs(_t(weights, sums, sizes, mean))
    varies = np.isfinite(observed)
    observed, drawn = np.where(varies, observed, 0), np.where(varies, drawn, 0)
    plain = share_beyond(drawn, observed)
    corrected = step_down(observed, drawn)
    return np.where(varies, plain, 1.0), np.where(varies, corrected, 1.0)


def step_down(observed: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """p-values of the statistics [variant], corrected by the largest in each draw, [variant].

    `drawn` [draw, variant] are the statistics where nothing is to be found; large ones speak
    against that. Each is compared with the largest among itself and the variants of smaller
    statistics (Westfall and Young 1993, algorithm 2.8).
    """
    order = np.argsort(-observed, kind="stable")
    largest = np.maximum.accumulate(drawn[:, order][:, ::-1], axis=1)[:, ::-1]
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(share_beyond(largest, observed[order]))
    return corrected


def share_beyond(drawn: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Share of draws at least as large as the observed, itself counted among them, [variant]."""
    tolerance = 1e-9  # statistics that are equal up to rounding count as equally large
    return (1 + (drawn >= observed - tolerance).sum(axis=0)) / (1 + len(drawn))


def _t(
    weights: np.ndarray, sums: np.ndarray, sizes: np.ndarray, centre: np.ndarray | float
) -> np.ndarray:
    """t of the weighted documents' means around a centre, [draw, variant]; infinite without spread.

    `weights` [draw, document], `sums` [document, variant], `sizes` [document] in examples.
    """
    n = (weights @ sizes)[:, None]
    mean = weights @ sums / n
    squares = weights @ sums**2
    spread = squares - 2 * mean * (weights @ (sums * sizes[:, None]))
    spread += mean**2 * (weights @ sizes**2)[:, None]
    known = spread > 1e-12 * squares
    t = (mean - centre) * n / np.sqrt(np.where(known, spread, 1.0))
    return np.where(known, t, np.inf)
