"""The tables of a study, and the intervals that a recomputed number may need."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from tests.core.builders import plain_ends
from workflow_scripts.core.stats.bootstrap import bootstrap_weights

Z = stats.norm.isf(0.025)
# The titles of tasks and their names in files.
NAMES = {"MRPC": "mrpc", "STS-B": "stsb", "SST-2": "sst2", "QQP": "qqp", "RTE": "rte"}
NAMES |= {"QNLI": "qnli", "MNLI": "mnli", "CoLA": "cola"}
TITLES = {name: title for title, name in NAMES.items()}
ENDS = ("ci_low", "ci_high")


class Missing(Exception):
    """A table, or the rows of it, that the study has not."""


@dataclass(frozen=True)
class Case:
    """A number with the ends of its interval; `near` is how far another bootstrap may be.

    `seeds` and `interval` are what is printed under these names, where they are computed too.
    """

    value: float
    low: float
    high: float
    case: str = ""
    reference: float | None = None
    comparable: bool = True
    task: str = ""
    own_head: bool = False
    near: float = 0.0
    seeds: int | None = None
    interval: str | None = None
    bounds: float = 0.0  # of a count's bounds: what one more is in the number's unit


Cases = Iterable[Case]


class Study:
    """The tables below a folder of results, those of its model before those of all."""

    def __init__(self, results: Path, model: str) -> None:
        self.results, self.model = results, model
        self.read, self.all = cache(self._read), cache(self._all)  # each table is read often

    def _read(self, name: str) -> pd.DataFrame:
        """The table at a path below the model's folder, or else below the study's."""
        for folder in (self.results / self.model, self.results):
            path = folder / name
            if path.is_file():
                return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        raise Missing(name)

    def _all(self, pattern: str) -> pd.DataFrame:
        """All tables of a pattern, one below the other."""
        paths = sorted({*self.results.glob(pattern), *(self.results / self.model).glob(pattern)})
        if not paths:
            raise Missing(pattern)
        return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)

    def rows(self, name: str, **wanted: object) -> pd.DataFrame:
        """The rows of a table with these values."""
        return where(self.read(name), **wanted)


def where(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows with these values. Raises Missing where there is none."""
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    if not len(frame):
        raise Missing(str(wanted))
    return frame


def attenuated(*halves: float) -> float:
    """What two sets can correlate by, with the noise that their halves' correlations show."""
    most = 1.0
    for r in halves:
        # A half is true + noise, of variances t and v: r = t / (t + v); the whole has v / 2.
        most *= max(r, 0) / (max(r, 0) + (1 - max(r, 0)) / 2)
    return math.sqrt(most)


def wilson(right: float, n: int, z: float = Z) -> tuple[float, float]:
    """Wilson's interval of a share in percent, by its formula (Wilson 1927)."""
    p = right / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return 100 * (centre - half), 100 * (centre + half)


def quantile(degrees: int) -> float:
    """Student's 97.5th percentile."""
    return float(stats.t.isf(0.025, degrees))


def student(values: np.ndarray) -> tuple[float, float, float]:
    """A mean with Student's 95% interval."""
    values = np.asarray(values, float)
    mean = float(values.mean())
    if len(values) < 2:
        return mean, math.nan, math.nan
    half = quantile(len(values) - 1) * math.sqrt(values.var(ddof=1) / len(values))
    return mean, mean - half, mean + half


def over_seeds(
    rows: pd.DataFrame, *columns: str, scale: float = 1.0
) -> tuple[list[float], dict[str, Any]]:
    """Means over seeds, a row each, of a number and its ends, and how both are named."""
    by_seed = scale * rows.set_index("seed")[list(columns)]
    assert by_seed.index.is_unique
    n = len(by_seed)
    means = [math.fsum(by_seed[name]) / n for name in columns]
    of = {"seeds": n, "interval": "at least 95% over examples and seeds" if n > 1 else ""}
    return with_seeds(means, by_seed[columns[0]].std(), n), of


def with_seeds(number: Iterable[float], sd: float, n: int) -> list[float]:
    """A mean over seeds whose ends have the examples' error, with the seeds' deviation."""
    value, *ends = number
    if n < 2:
        return [value, *ends]
    squares = ((end - value) ** 2 + (quantile(n - 1) * sd) ** 2 / n for end in ends)
    below, above = map(math.sqrt, squares)
    return [value, value - below, value + above]


def over_units(
    rows: pd.DataFrame,
    less: pd.DataFrame | None = None,
    over: pd.DataFrame | None = None,
    column: str = "sums",
) -> np.ndarray:
    """The heads' mean, less or over that of others, and its interval over units (`plain_ends`).

    Of several seeds, Student's interval of their own numbers is added, by squares.
    """
    number = over_units_alone(rows, less, over, column)
    if "seed" not in rows or rows["seed"].nunique() == 1:
        return number
    each = []
    for seed in rows["seed"].unique():
        parts = (None if part is None else where(part, seed=seed) for part in (less, over))
        each.append(over_units_alone(where(rows, seed=seed), *parts, column)[0])
    half = stats.t.ppf(0.975, len(each) - 1) * stats.sem(each)
    value, low, high = number
    return np.array(
        [value, value - np.hypot(value - low, half), value + np.hypot(high - value, half)]
    )


def over_units_alone(
    rows: pd.DataFrame, less: pd.DataFrame | None, over: pd.DataFrame | None, column: str
) -> np.ndarray:
    """The same, of all seeds as if they were the only ones."""

    def total(part: pd.DataFrame, name: str) -> np.ndarray:
        return sum(part[name].map(np.asarray)) / len(part)

    sums, sizes = total(rows, column), total(rows, "counts")
    for part in (less, over):
        if part is not None and (total(part, "counts") != sizes).any():
            others = total(part, column), total(part, "counts")
            return of_two_means((sums, sizes), others, np.subtract if over is None else np.divide)
    sums = sums if less is None else sums - total(less, column)
    sizes = sizes if over is None else total(over, column)
    return np.array([sums.sum() / sizes.sum(), *plain_ends(sums, sizes, 1000, 1)])


def of_two_means(one: tuple, other: tuple, join: np.ufunc) -> np.ndarray:
    """Two means, each of sums and sizes by unit, joined, with percentiles over samples of units."""

    def joined(row: np.ndarray) -> float:
        means = (
            row @ sums / (row @ sizes) if row @ sizes else np.nan for sums, sizes in (one, other)
        )
        return join(*means)

    n = min(np.count_nonzero(sizes) for _, sizes in (one, other))
    samples = [joined(row) for row in bootstrap_weights(len(one[0]), 1000, 1)]
    beyond = np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1) if n < 200 else Z
    ends = np.nanpercentile(samples, 100 * stats.norm.cdf([-beyond, beyond]))
    return np.array([joined(np.ones(len(one[0]))), *ends])


def tasks(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each task."""
    for task in dict.fromkeys(frame["task"]):
        yield task, frame[frame["task"] == task]


def newcombe(one: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """A difference of two numbers with its interval by square-and-add (Newcombe 1998)."""
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    below = ((a - a_low) ** 2 + (b_high - b) ** 2) ** 0.5
    above = ((a_high - a) ** 2 + (b - b_low) ** 2) ** 0.5
    return a - b, a - b - below, a - b + above


def surely_above(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the interval of a difference lies above 0."""
    return newcombe(one, other)[1] > 0


def curve_mean(rows: pd.DataFrame, *columns: str) -> np.ndarray:
    """The mean height over the share pruned, the sum of its trapezoids over its length."""
    points = rows.sort_values("share")[["share", *columns]].to_numpy(float)
    steps = pairwise(points)
    area = sum((after[0] - at[0]) * (after[1:] + at[1:]) / 2 for at, after in steps)
    return area / (points[-1, 0] - points[0, 0])
