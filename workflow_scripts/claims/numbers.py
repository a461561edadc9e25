"""Intervals of numbers that come to a claim without one, or as a difference of two."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.claims.published import Claim
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.stats.bootstrap import wilson

CONFIDENCE = 0.95
# What intervals are that several papers' claims have.
BOUNDS = "bounds of the count"
OVER_DOCUMENTS = "95% over documents"
APART = "95% as if the two were independent"
WIDEST = "conservative: difference of the intervals' ends"
WIDEST_RATIO = "conservative: ratio of the intervals' ends"
OVER_EXAMPLES = "95% over examples"
OVER_HEADS = "95% over heads"
AT_LEAST = "at least 95% over examples"
# Whole documents are resampled for each head.
OF_HEADS = "mean of the heads' 95% intervals over documents"
MEAN_OF_ENDS = "95% over examples, mean of the seeds' intervals"


def share(right: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval of the share of `right` among `n`, in percent."""
    low, high = wilson(right, n, confidence)
    return 100 * low, 100 * high


def share_of_heads(count: int, n: int, **more: Any) -> Measured:
    """Percent of `n` heads, with Wilson's interval."""
    return Measured(100 * count / n, *share(count, n), n, "heads", **more)


def over_runs(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean over runs with Student's interval; ends are NaN where a single run has no spread."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, math.nan, math.nan
    half = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1) * np.std(values, ddof=1)
    half = float(half / math.sqrt(len(values)))
    return mean, mean - half, mean + half


def fisher_interval(r: float, n: int) -> tuple[float, float]:
    """Fisher's interval of a correlation over `n` examples."""
    half = scipy.stats.norm.ppf(0.5 + CONFIDENCE / 2) / math.sqrt(n - 3)
    centre = math.atanh(min(max(r, -0.999999), 0.999999))
    return math.tanh(centre - half), math.tanh(centre + half)


def paper_number(claim: Claim) -> Measured | None:
    """The paper's own number with its sampling interval; None where the paper has no number.

    The interval is of a share, of a correlation, or as wide as the claim states. Where it is
    unknown, or the number is an exact count, the ends are the number itself.
    """
    value, n = claim.printed, int(claim.paper_n or 0)
    if value is None:
        return None
    if claim.paper_interval == "share":
        return Measured(value, *share(round(value / 100 * n), n), n)
    if claim.paper_interval == "correlation":
        scale = 100 if claim.unit.startswith("%") else 1
        low, high = (scale * end for end in fisher_interval(value / scale, n))
        return Measured(value, low, high, n)
    half = claim.paper_half_width or 0.0
    return Measured(value, value - half, value + half, n or None)


def columns_of(table: Container[str], name: str) -> tuple[str, str, str]:
    """The columns of a number and of its interval's ends: its own ones, or ci_low and ci_high."""
    own = f"{name}_low" in table
    return name, f"{name}_low" if own else "ci_low", f"{name}_high" if own else "ci_high"


def row_number(row: Any, name: str, of: str, scale: float = 1.0, **more: Any) -> Measured:
    """The number of a row with its interval."""
    ends = (scale * float(row[column]) for column in columns_of(row, name))
    return Measured(*ends, int(row["n"]), of, **more)


def mean_of(
    rows: pd.DataFrame, name: str, of: str = "", scale: float = 1.0, **more: Any
) -> Measured:
    """Mean of a column over rows that have an interval each, and the mean of their ends.

    The interval is at least as wide as that of the mean: it is so wide where all rows vary alike.
    """
    ends = (scale * float(rows[column].mean()) for column in columns_of(rows, name))
    return Measured(*ends, int(rows["n"].max()), of, **more)


def over_seeds(rows: pd.DataFrame, name: str, scale: float = 1.0, **more: Any) -> Measured:
    """The same of rows on the same examples, one for each seed."""
    seeds = int(rows["seed"].nunique())
    stated = {"seeds": seeds, "interval": MEAN_OF_ENDS if seeds > 1 else ""}
    return mean_of(rows, name, "examples", scale, **(stated | more))


def minus(one: Measured, other: Measured, **more: Any) -> Measured:
    """The difference of two numbers; its ends are the differences of theirs, at their widest."""
    ends = one.value - other.value, one.low - other.high, one.high - other.low
    return Measured(*ends, **({"n": one.n, "of": one.of, "interval": WIDEST} | more))


def apart(one: Measured, other: Measured, **more: Any) -> Measured:
    """The difference of two numbers, with the interval of independent ones (Newcombe 1998).

    That is by square-and-add of their intervals: wider than the true one where both numbers are of
    the same examples and rise and fall together.
    """
    value = one.value - other.value
    below = math.hypot(one.value - one.low, other.high - other.value)
    above = math.hypot(one.high - one.value, other.value - other.low)
    return Measured(value, value - below, value + above, **({"interval": APART} | more))


def ratio(one: Measured, other: Measured, scale: float = 1.0, **more: Any) -> Measured:
    """The ratio of two numbers; its ends are the ratios of theirs, at their widest."""
    pairs = (one.value, other.value), (one.low, other.high), (one.high, other.low)
    ends = (scale * part / whole for part, whole in pairs)
    return Measured(*ends, other.n, other.of, interval=WIDEST_RATIO, **more)


def counted(
    low: Sequence[bool], value: Sequence[bool], high: Sequence[bool], of: str, **more: Any
) -> Measured:
    """How many hold: for sure, by their value, and possibly; `of` names what they are."""
    sure, count, possible = (int(np.sum(list(which))) for which in (low, value, high))
    return Measured(count, sure, possible, len(value), of, **({"interval": BOUNDS} | more))


def in_percent(number: Measured) -> Measured:
    """A count, with its bounds, as a share of what it is of."""
    value, low, high = (100 * x / number.n for x in (number.value, number.low, number.high))
    return replace(number, value=value, low=low, high=high)


def area(rows: pd.DataFrame, name: str) -> Measured:
    """The mean height, in percent, of a curve over the column `share`, by trapezoids.

    The interval is as wide as if all points of a curve varied alike: at least 95%.
    """
    at = rows["share"]
    ends = (np.trapezoid(rows[column], at) for column in columns_of(rows, name))
    return Measured(*(100 * float(end / (at.max() - at.min())) for end in ends))


def bounded(sure: Sequence[bool], free: Sequence[bool], of: str, **more: Any) -> Measured:
    """Percent of variants that are free of a loss, and as the lower end those surely so.

    `free` has no significant loss, which is the upper end too; `sure` surely has only a small one.
    """
    return in_percent(counted(np.logical_and(sure, free), free, free, of, **more))


def ceiling(one: float, other: float) -> float:
    """What effects on two sets would correlate by if all heads mattered alike on both.

    The numbers are correlations between the halves of each set, from which Spearman and Brown's
    formula (1910) for twice the length gives a reliability; 0 where halves disagree. Noise
    attenuates a correlation by the root of the product of both (Spearman 1904).
    """
    one, other = (2 * max(halves, 0.0) / (1 + max(halves, 0.0)) for halves in (one, other))
    return math.sqrt(one * other)


def too_noisy(one: float, other: float, paper: float) -> str:
    """Why a correlation cannot be held against the paper's; empty where it can."""
    if (most := ceiling(one, other)) >= paper:
        return ""
    why = f"too noisy: by their halves the sets can correlate by {most:.2f}"
    return f"{why}, the paper's do by {paper:g}"


def between_sets(
    row: Mapping[str, Any], one: float, other: float, paper: float, case: str = "", **more: Any
) -> Measured:
    """A correlation of effects over heads on two sets, with those between the halves of each.

    Not comparable where the effects are too noisy for the paper's. The interval resamples heads.
    """
    about = f"halves of {row['one']}: {one:.2f}, of {row['other']}: {other:.2f}"
    more |= {"about": about, "not_comparable": too_noisy(one, other, paper)}
    case = case or f"{row['one']} and {row['other']}"
    return row_number(row, "pearson", "heads", case=case, interval=OVER_HEADS, **more)


def order_of_noise(scores: Measured, random: Measured | None) -> str:
    """Why no order can be held against that by scores; empty where one can, or none is random.

    Scores on few examples order the heads by chance: theirs must beat a random order, by an
    interval above 0.
    """
    if random is None or apart(scores, random).low > 0:
        return ""
    return "the order by scores may be noise: it does not surely beat a random one"
