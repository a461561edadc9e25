"""Intervals of numbers that come to a claim without one, or as a difference of two."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.claims.products import NAMES
from workflow_scripts.claims.published import PAPER_INTERVALS, Claim
from workflow_scripts.claims.verdicts import BOUNDS, Measured
from workflow_scripts.core.stats.agreement import of_all
from workflow_scripts.core.stats.bootstrap import (
    observed_and_resampled,
    percentile_ends,
    ratio_ends,
    wilson,
)

CONFIDENCE = 0.95
DRAWS, SEED = 1000, 1  # of samples of documents or examples
# What intervals are that several papers' claims have.
OVER_DOCUMENTS = "95% over documents"
APART = "95% as if the two were independent"
OVER_EXAMPLES = "95% over examples"
OVER_HEADS = "95% over heads"
AT_LEAST = "at least 95% over examples"
OVER_SEEDS = "at least 95% over examples and seeds"


def share(right: int, n: int) -> tuple[float, float]:
    """Wilson's interval of the share of `right` among `n`, in percent."""
    low, high = wilson(right, n, CONFIDENCE)
    return 100 * low, 100 * high


def share_number(count: int, n: int, of: str, **more: Any) -> Measured:
    """Percent of `n`, with Wilson's interval; `of` names what they are."""
    return Measured(100 * count / n, *share(count, n), n, of, binomial=True, **more)


def paper_number(claim: Claim) -> Measured | None:
    """The paper's own number with its sampling interval; None where the paper has no number.

    The interval is of a share (Wilson), of a correlation (Fisher), or as wide as the claim states.
    Where it is unknown, or the number is an exact count, the ends are the number itself.
    """
    value, n = claim.printed, int(claim.paper_n or 0)
    if value is None:
        return None
    if claim.paper_interval == "share":
        return Measured(value, *share(round(value / 100 * n), n), n)
    if claim.paper_interval == "correlation":
        scale = 100 if claim.unit.startswith("%") else 1
        half = scipy.stats.norm.ppf(0.5 + CONFIDENCE / 2) / math.sqrt(n - 3)
        low, high = scale * np.tanh(np.arctanh(value / scale) + np.array([-half, half]))
        return Measured(value, low, high, n)
    half = 0.0 if claim.paper_interval in PAPER_INTERVALS else float(claim.paper_interval)
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
    """Mean of a column over rows that have an interval each, and the mean of their ends."""
    ends = (scale * float(rows[column].mean()) for column in columns_of(rows, name))
    return Measured(*ends, int(rows["n"].max()), of, **more)


def over_units(
    rows: pd.DataFrame,
    of: str,
    less: pd.DataFrame | None = None,
    over: pd.DataFrame | None = None,
    sums: str = "sums",
    scale: float = 1.0,
    **more: Any,
) -> Measured:
    """The mean over rows of heads, with its interval over the documents or examples of all.

    It is `less` the mean of other rows, or `over` that mean, on the same units. The rows have lists
    of sums and counts by unit, as `per_head` writes them. Where other units lack other rows, it is
    no ratio of sums, and has percentiles alone. Of several seeds it has their spread, too.
    """
    total, size = _of_units(rows, sums)
    compared = next((part for part in (less, over) if part is not None), rows)
    other, others = _of_units(compared, sums)
    if (size == others).all():
        total = total if less is None else total - other
        size = size if over is None else other
        value = total.sum() / size.sum()
        low, high = ratio_ends(total[:, None], size[:, None], DRAWS, SEED)[:, 0]
    else:
        weights = observed_and_resampled(len(size), DRAWS, SEED)
        with np.errstate(invalid="ignore"):  # a sample may lack all units of the one or the other
            ours, theirs = (
                (weights @ total) / (weights @ size),
                (weights @ other) / (weights @ others),
            )
        values = ours / theirs if less is None else ours - theirs
        fewest = min(np.count_nonzero(each) for each in (size, others))
        value, (low, high) = values[0], percentile_ends(values[1:], fewest)
    ends = (scale * float(number) for number in (value, low, high))
    documents = "n_documents" in rows and (rows["n"] > rows["n_documents"]).any()
    more = {"interval": OVER_DOCUMENTS if documents else OVER_EXAMPLES} | more
    found = Measured(*ends, int(rows["n"].max()), of, **more)
    seeds = set(rows["seed"]) if "seed" in rows else ()
    if len(seeds) < 2:
        return found
    of_seeds = _of_seeds(rows, sums)
    of_seeds = of_seeds if less is None else of_seeds - _of_seeds(less, sums)
    of_seeds = of_seeds if over is None else of_seeds / _of_seeds(over, sums)
    return _with_seeds(found, len(seeds), scale * of_seeds.std(ddof=1))


def _of_seeds(rows: pd.DataFrame, sums: str) -> np.ndarray:
    """The mean over units of each seed's rows, [seed]."""
    parts = (_of_units(part, sums) for _, part in rows.groupby("seed"))
    return np.array([total.sum() / size.sum() for total, size in parts])


def _of_units(rows: pd.DataFrame, sums: str) -> tuple[np.ndarray, np.ndarray]:
    """Sums and counts of each unit, means over rows, [unit]."""
    return tuple(np.mean(np.stack(rows[name].tolist()), axis=0) for name in (sums, "counts"))


def over_seeds(rows: pd.DataFrame, name: str, scale: float = 1.0, **more: Any) -> Measured:
    """The same of rows on the same examples, those of each seed, with the seeds' own spread."""
    by_seed = scale * rows.groupby("seed")[name].mean()
    number = mean_of(rows, name, "examples", scale)
    return replace(_with_seeds(number, len(by_seed), by_seed.std()), **more)


def seeds_number(
    row: pd.Series, name: str, seeds: int, scale: float = 1.0, **more: Any
) -> Measured:
    """The number of a row of a task, by its title, which is a mean over seeds, as are its ends."""
    number = row_number(row, name, "examples", scale, task=NAMES[row["task"]])
    spread = scale * float(row[f"{name}_sd"]) if seeds > 1 else 0.0
    return replace(_with_seeds(number, seeds, spread), **more)


def _with_seeds(number: Measured, seeds: int, spread: float) -> Measured:
    """A mean over seeds with their deviation in its interval, which has that of examples alone.

    Student's interval over seeds is joined to it by square-and-add. It is wider than needed, as the
    deviation holds some error of the examples. Seeds and examples resampled together would be too
    narrow with three seeds (tests/claims/test_numbers.py).
    """
    if seeds < 2:
        return replace(number, seeds=int(seeds))
    half = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, seeds - 1) * spread / math.sqrt(seeds)
    low = number.value - math.hypot(number.value - number.low, half)
    high = number.value + math.hypot(number.high - number.value, half)
    return replace(number, low=low, high=high, seeds=int(seeds), interval=OVER_SEEDS)


def apart(one: Measured, other: Measured, **more: Any) -> Measured:
    """The difference of two numbers, with the interval of independent ones (Newcombe 1998).

    That is by square-and-add of their intervals: wider than the true one where both numbers are of
    the same examples and rise and fall together.
    """
    value = one.value - other.value
    below = math.hypot(one.value - one.low, other.high - other.value)
    above = math.hypot(one.high - one.value, other.value - other.low)
    return Measured(value, value - below, value + above, **({"interval": APART} | more))


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
    """The mean height, in percent, of a curve over its column `share`, by trapezoids."""
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

    The numbers are correlations between the halves of each set. Noise attenuates a correlation by
    the root of the product of both reliabilities (Spearman 1904).
    """
    return math.sqrt(of_all(one) * of_all(other))


def between_sets(
    row: Mapping[str, Any], one: float, other: float, paper: float, **more: Any
) -> Measured:
    """A correlation of effects over heads on two sets, with those between the halves of each.

    Not tested where the effects are too noisy for the paper's.
    """
    more["about"] = f"halves of {row['one']}: {one:.2f}, of {row['other']}: {other:.2f}"
    if (most := ceiling(one, other)) < paper:
        because = f"too noisy: by their halves the sets can correlate by {most:.2f}"
        more["because"] = f"{because}, the paper's do by {paper:g}"
    more["case"] = f"{row['one']} and {row['other']}"
    return row_number(row, "pearson", "heads", interval=OVER_HEADS, **more)


def over_scores(
    importance: Measured, scores: Measured, random: Measured | None, about: str, **more: Any
) -> Measured:
    """The difference of what orders of pruning by importance and by scores leave.

    `about` shows the numbers, the random order's after a semicolon. Not tested unless the order
    by scores beats the random one, if there is one, by an interval above 0: scores on few examples
    order heads by chance.
    """
    shown = about if random else about.partition(";")[0]
    more["about"] = shown.format(importance.value, scores.value, random and random.value)
    if random and apart(scores, random).low <= 0:
        more["because"] = "the order by scores may be noise: it does not surely beat a random one"
    return apart(importance, scores, **more)
