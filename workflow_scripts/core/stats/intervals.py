"""Means over examples with bootstrap intervals.

Examples of one document are alike, so every mean asks for the `documents` that are resampled; where
the examples were sampled one by one, as a task's sentences are, the caller states INDEPENDENT.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights, document_weights

INDEPENDENT: Final = None  # in place of documents: every example is resampled on its own


def per_head(
    values: Mapping[str, np.ndarray],
    kind: str,
    measure: str,
    draws: int,
    seed: int,
    documents: Sequence[str] | None,
) -> pd.DataFrame:
    """One row per head and entry of `values`: the mean over examples with a 95% interval.

    `values` maps each name (column `kind`) to numbers [example, layer, head]; NaN where an
    example has none. Columns: layer, head, `kind`, `measure`, ci_low, ci_high, n (examples).
    Unless INDEPENDENT, whole `documents` (one of each example) are resampled, and counted in
    n_documents.
    """
    frames = []
    for name, numbers in values.items():
        mean, low, high = bootstrap_mean(numbers, draws, seed, documents)
        n_layers, n_heads = mean.shape
        n = np.isfinite(numbers).sum(axis=0)
        columns = {kind: name, measure: mean, "ci_low": low, "ci_high": high, "n": n}
        if documents is not INDEPENDENT:
            columns["n_documents"] = count_documents(numbers, documents)
        frames.append(tables.tidy({"layer": range(n_layers), "head": range(n_heads)}, **columns))
    return pd.concat(frames, ignore_index=True)


def bootstrap_mean(
    values: np.ndarray, draws: int, seed: int, documents: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over the first axis, NaN left out, and the ends of its 95% percentile interval.

    Whole `documents` (one of each example) are resampled, or examples if INDEPENDENT. All three are
    NaN where no example has a value; the ends also where all values are of one document.
    """
    flat = values.reshape(len(values), -1).astype(np.float64)
    present = np.isfinite(flat)
    filled = np.where(present, flat, 0)
    known = present.any(axis=0)
    if documents is INDEPENDENT:
        weights = bootstrap_weights(len(flat), draws, seed)
    else:
        weights = document_weights(documents, draws, seed)
        known = count_documents(flat, documents) > 1
    weights = weights.astype(np.float64)  # products of one type
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = (weights @ filled) / (weights @ present.astype(np.float64))
        mean = filled.sum(axis=0) / present.sum(axis=0)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    if known.any():
        # NaNs, of resamples without any value, cost one pass per column.
        percentile = np.nanpercentile if np.isnan(resampled[:, known]).any() else np.percentile
        low[known], high[known] = percentile(resampled[:, known], CONFIDENCE, axis=0)
    shape = values.shape[1:]
    return mean.reshape(shape), low.reshape(shape), high.reshape(shape)


def wilson(right: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of the share of `right` among `n`, both ends from 0 to 1."""
    from scipy import stats  # half a second, which jobs that only resample are spared

    ends = stats.binomtest(right, n).proportion_ci(confidence, method="wilson")
    return ends.low, ends.high


def count_documents(values: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Number of documents with a value that is not NaN, int [...] of values [example, ...]."""
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    counted = np.zeros((len(names), *values.shape[1:]), dtype=bool)
    np.logical_or.at(counted, codes, np.isfinite(values))
    return counted.sum(axis=0)
