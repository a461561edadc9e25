"""Means over examples with bootstrap intervals."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights, document_weights


def per_head(
    values: Mapping[str, np.ndarray],
    kind: str,
    measure: str,
    draws: int,
    seed: int,
    documents: Sequence[str] | None = None,
) -> pd.DataFrame:
    """One row per head and entry of `values`: the mean over examples with a 95% interval.

    `values` maps each name (column `kind`) to numbers [example, layer, head]; NaN where an
    example has none. Columns: layer, head, `kind`, `measure`, ci_low, ci_high, n (examples).
    With the document of each example, `documents` are drawn, and counted in n_documents.
    """
    frames = []
    for name, numbers in values.items():
        mean, low, high = bootstrap_mean(numbers, draws, seed, documents)
        n_layers, n_heads = mean.shape
        n = np.isfinite(numbers).sum(axis=0)
        columns = {kind: name, measure: mean, "ci_low": low, "ci_high": high, "n": n}
        if documents is not None:
            columns["n_documents"] = count_documents(numbers, documents)
        frames.append(tables.tidy({"layer": range(n_layers), "head": range(n_heads)}, **columns))
    return pd.concat(frames, ignore_index=True)


def bootstrap_mean(
    values: np.ndarray, draws: int, seed: int, documents: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over the first axis, NaN left out, and the ends of its 95% percentile interval.

    Whole examples are drawn with replacement or, with the document of each, whole documents. All
    are NaN where no example has a value; the ends also where the values are of one document.
    """
    flat = values.reshape(len(values), -1).astype(np.float64)
    present = np.isfinite(flat)
    filled = np.where(present, flat, 0)
    known = present.any(axis=0)
    if documents is None:
        weights = bootstrap_weights(len(flat), draws, seed)
    else:
        weights = document_weights(documents, draws, seed)
        known = count_documents(flat, documents) > 1
    weights = weights.astype(np.float64)  # products of one type
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (weights @ filled) / (weights @ present.astype(np.float64))
        mean = filled.sum(axis=0) / present.sum(axis=0)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    if known.any():
        # NaNs, of draws without any of an example's values, cost one pass per column.
        percentile = np.nanpercentile if np.isnan(drawn[:, known]).any() else np.percentile
        low[known], high[known] = percentile(drawn[:, known], CONFIDENCE, axis=0)
    shape = values.shape[1:]
    return mean.reshape(shape), low.reshape(shape), high.reshape(shape)


def count_documents(values: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Number of documents with a value that is not NaN, int [...] of values [example, ...]."""
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    counted = np.zeros((len(names), *values.shape[1:]), dtype=bool)
    np.logical_or.at(counted, codes, np.isfinite(values))
    return counted.sum(axis=0)
