"""Our numbers for the claims of Michel et al. 2019 about pruned classifiers."""

import math
from typing import Any

import pandas as pd
from scipy import stats

from workflow_scripts.claims.glue_rows import NAMES
from workflow_scripts.claims.intervals import APART, CONFIDENCE, MEAN_OF_ENDS, apart, area
from workflow_scripts.claims.michel import in_one_metric, no_accuracy
from workflow_scripts.claims.noise import order_of_noise
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured


def pruned(products: Products, of: str) -> list[Measured]:
    """Points gained with a share of the heads pruned by importance; `of` is "40", or "60 sst2".

    Without a task `of` means the paper's accuracy on MNLI, with which no correlation is comparable.
    """
    at, *tasks = of.split()
    numbers = []
    for task, rows in _curves(products, "importance").items():
        if tasks and NAMES[task] not in tasks:
            continue
        row = rows.loc[(rows["share"] - float(at)).abs().idxmin()]
        about = f"{row['metric']}, {row['share']:.0f}% of the heads"
        ends = (100 * row[name] for name in ("change", "change_low", "change_high"))
        more = _of_runs(row, about)
        if not tasks:
            more["not_comparable"] = no_accuracy(row["metric"])
        numbers.append(Measured(*ends, int(row["n"]), "examples", task, **more))
    return numbers


def order_area(products: Products, of: str) -> list[Measured]:
    """Points by which one order beats another, on average over all shares of pruned heads.

    `of` is like "importance over ablation". The average is the area of the curve, by trapezoids.
    Not comparable where the other order does not surely beat the random one, if there is one.
    """
    one, _, other = of.split()
    ones, others, random = (_curves(products, order) for order in (one, other, "random"))
    numbers = []
    for task in ones.keys() & others.keys():
        first, second = _area(ones[task]), _area(others[task])
        third = _area(random[task]) if task in random else None
        about = f"{ones[task]['metric'].iloc[0]}, {first.value:+.1f} against {second.value:+.1f}"
        about += f"; a random order: {third.value:+.1f}" if third else ""
        more = {"about": about, "task": NAMES[task], "interval": APART}
        more |= {"seeds": int(ones[task]["runs"].min())}
        more |= {"not_comparable": order_of_noise(second, third)}
        n = int(ones[task]["n"].iloc[0])
        numbers.append(Measured(*apart(first, second), n, "examples", task, **more))
    return sorted(numbers, key=lambda number: number.case)


def _area(rows: pd.DataFrame) -> Measured:
    """The mean change over all shares pruned, in points."""
    columns = ("change", "change_low", "change_high")
    return Measured(*(100 * x for x in area(rows["share"], rows, columns)))


def _curves(products: Products, strategy: str) -> dict[str, pd.DataFrame]:
    """The curve of each task in an order of pruning, by the share pruned, in percent."""
    table = in_one_metric(products["michel2019-fig3"])
    table = table[table["strategy"] == strategy].sort_values("share", kind="stable")
    return {str(task): rows for task, rows in table.groupby("task", sort=False)}


def one_head_each(products: Products, of: str) -> list[Measured]:
    """Points gained with the most important head of every layer alone left.

    Those of a correlation are not comparable: the bound is of accuracy.
    """
    rows = products.rows("michel2019-one-head", kept="most important")
    return [
        Measured(
            *(row[name] for name in ("change", "change_low", "change_high")),
            int(row["n"]),
            "examples",
            row["task"],
            not_comparable=no_accuracy(row["metric"]),
            **_of_runs(row, f"{row['metric']}, {row['unpruned']:.1f} before"),
        )
        for _, row in rows.iterrows()
    ]


def _of_runs(row: pd.Series, about: str) -> dict[str, Any]:
    """What is stated of a number that is a mean over seeds, whose ends are means of theirs."""
    seeds = int(row["runs"])
    interval = MEAN_OF_ENDS if seeds > 1 else ""
    return {"about": about, "task": NAMES[row["task"]], "seeds": seeds, "interval": interval}


def speed_gain(products: Products, of: str) -> list[Measured]:
    """Percent by which inference gains speed with half of the heads removed, at batches of `of`.

    The interval is Student's, as if the two medians over repeats were means. Not comparable on a
    CPU.
    """
    rows = products.rows("michel2019-table4", batch_size=int(of))
    numbers = []
    for row in rows.itertuples():
        repeats = int(row.repeats)
        spread = math.hypot(row.original_sd / row.original, row.pruned_sd / row.pruned)
        degrees = 2 * (repeats - 1)
        t = stats.t.ppf(0.5 + CONFIDENCE / 2, degrees) if degrees else math.nan
        half, ratio = t * spread / math.sqrt(repeats), row.pruned / row.original
        ends = (100 * (ratio * factor - 1) for factor in (1, 1 - half, 1 + half))
        more = {"about": f"{row.device}, {row.threads} thread(s)", "task": NAMES[row.task]}
        more["interval"] = "95% over repeats (Student)"
        if row.device == "cpu":
            more["not_comparable"] = "measured on a CPU"
        numbers.append(Measured(*ends, repeats, "repeats", row.task, **more))
    return numbers


MEASURES = (pruned, order_area, one_head_each, speed_gain)
