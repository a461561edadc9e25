"""Means over examples with bootstrap intervals."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights


def per_head(
    values: Mapping[str, np.ndarray], kind: str, measure: str, draws: int, seed: int
) -> pd.DataFrame:
    """One row per head and entry of `values`: the mean over examples with a 95% interval.

    `values` maps each name (column `kind`) to numbers [example, layer, head]; NaN where an
    example has none. Columns: layer, head, `kind`, `measure`, ci_low, ci_high, n (examples).
    """
    frames = []
    for name, numbers in values.items():
        mean, low, high = bootstrap_mean(numbers, draws, seed)
        n_layers, n_heads = mean.shape
        n = np.isfinite(numbers).sum(axis=0)
        columns = {kind: name, measure: mean, "ci_low": low, "ci_high": high, "n": n}
        frames.append(tables.tidy({"layer": range(n_layers), "head": range(n_heads)}, **columns))
    return pd.concat(frames, ignore_index=True)


def bootstrap_mean(
    values: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over the first axis, NaN left out, and the ends of its 95% percentile interval.

    Whole examples are drawn with replacement. All are NaN where no example has a value.
    """
    flat = values.reshape(len(values), -1).astype(np.float64)
    present = np.isfinite(flat)
    filled = np.where(present, flat, 0)
    weights = bootstrap_weights(len(flat), draws, seed).astype(np.float64)  # products of one type
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (weights @ filled) / (weights @ present.astype(np.float64))
        mean = filled.sum(axis=0) / present.sum(axis=0)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    known = present.any(axis=0)
    if known.any():
        # NaNs, of draws without any of an example's values, cost one pass per column.
        percentile = np.nanpercentile if np.isnan(drawn[:, known]).any() else np.percentile
        low[known], high[known] = percentile(drawn[:, known], CONFIDENCE, axis=0)
    shape = values.shape[1:]
    return mean.reshape(shape), low.reshape(shape), high.reshape(shape)
