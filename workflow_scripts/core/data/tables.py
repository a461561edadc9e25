"""Tidy tables: Parquet between rules, CSV for people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.stats.resampling import CONFIDENCE, bootstrap_weights


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet, whatever the name's ending."""
    frame.to_parquet(path, index=False)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV for people: floats with six significant digits."""
    frame.to_csv(path, index=False, float_format="%.6g")


def write_counts(counts: Mapping[str, Any], path: Path, **about: Any) -> None:
    """Write what was counted as CSV: columns what and n, and a column for each of `about`."""
    write_csv(pd.DataFrame(counts.items(), columns=["what", "n"]).assign(**about), path)


def read(path: Path, columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a Parquet table. Raises InputError where one of `columns` is missing."""
    frame = pd.read_parquet(path)
    missing = [column for column in columns if column not in frame]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}; delete the file and run again")
    return frame


def read_all(paths: Sequence[Path], columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """Several Parquet tables below each other, read as `read` does."""
    return pd.concat([read(path, columns) for path in paths], ignore_index=True)


def tidy(axes: Mapping[str, Sequence], **values: Any) -> pd.DataFrame:
    """One row per cell of arrays: a column for each axis, with its labels, and for each array.

    `axes` names the arrays' axes in order. Values of fewer axes are those of the last ones.
    """
    shape = tuple(len(labels) for labels in axes.values())
    columns = zip(axes.items(), np.indices(shape), strict=True)
    frame = {name: np.asarray(labels)[index.ravel()] for (name, labels), index in columns}
    frame |= {name: np.broadcast_to(array, shape).ravel() for name, array in values.items()}
    return pd.DataFrame(frame)


def per_pair(weights: np.ndarray, names: Sequence[str] = ()) -> pd.DataFrame:
    """One row per query and key of a map [query, key]: query, key, weight.

    With the `names` of the tokens or words, query_token and key_token too.
    """
    length = range(len(weights))
    frame = tidy({"query": length, "key": length}, weight=weights)
    if len(names):
        texts = np.asarray(names)
        frame["query_token"], frame["key_token"] = texts[frame["query"]], texts[frame["key"]]
    return frame


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
        frames.append(tidy({"layer": range(n_layers), "head": range(n_heads)}, **columns))
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
    weights = bootstrap_weights(len(flat), draws, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (weights @ filled) / (weights @ present)
        mean = filled.sum(axis=0) / present.sum(axis=0)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    known = present.any(axis=0)
    if known.any():
        low[known], high[known] = np.nanpercentile(drawn[:, known], CONFIDENCE, axis=0)
    shape = values.shape[1:]
    return mean.reshape(shape), low.reshape(shape), high.reshape(shape)
