"""Our numbers for what Kovaleva et al. 2019 state about disabled heads and layers (4.6 and 5)."""

from workflow_scripts.ablation.measures import HEADS, SCORES
from workflow_scripts.claims.clark import at_depth
from workflow_scripts.claims.glue_rows import NAMES, TITLES, main_rows
from workflow_scripts.claims.intervals import over_runs
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured


def held_out_gain(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling the best unit, chosen on one half and measured on the other.

    `of` is head or layer, and a task where only one is meant; uniform attention; the interval is
    over divisions.
    """
    unit, *task = of.split()
    gains = products.rows("michel2019-gains", unit=unit, mode="uniform", split="dev")
    rows = [row for row in main_rows(gains) if not task or row["task"] == task[0]]
    return [
        Measured(
            *(row[name] for name in ("gain", "gain_low", "gain_high")),
            int(row["n"]),
            "examples",
            row["task"],
            len(gains[gains["task"] == row["task"]]["seed"].unique()),
            about=f"{row['naive']:+.1f} where chosen and measured on the same examples",
            task=NAMES[row["task"]],
        )
        for row in rows
    ]


def average_effect(products: Products, of: str) -> list[Measured]:
    """Points gained on average over heads by disabling one; the interval is over heads."""
    column = f"effect_{of}"
    heads = products[HEADS]
    if column not in heads:
        return []
    values = 100 * heads[column].to_numpy()
    return [Measured(*over_runs(values), len(values), "heads", TITLES[of], task=of)]


def stratum_effect(products: Products, of: str) -> list[Measured]:
    """Points gained on average by disabling a head of the kind `of`, on each task.

    The interval is of 90% and over examples: a loss beyond its lower end is excluded at 5%.
    """
    rows = products["kovaleva2019-strata"]
    return [
        Measured(
            *(100 * end for end in (row.effect, row.low, row.high)),
            int(row.heads),
            "heads",
            TITLES[row.task],
            about="90% interval over examples",
            task=row.task,
        )
        for row in rows[rows["stratum"] == of].itertuples()
    ]


def layer_effect(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling a layer of 12; `of` is like "RTE 1"."""
    task, layer = of.split()
    scores = products.all_of(SCORES)
    scores = scores[(scores["unit"] == "layer") & (scores["mode"] == "uniform")]
    scores = scores[(scores["task"] == NAMES[task]) & (scores["split"] == "dev")]
    scores = scores[scores["metric"] == "accuracy"]
    rows = at_depth(scores, int(layer), int(layer)) if len(scores) else scores
    numbers = 100 * rows[["effect", "ci_low", "ci_high"]]
    return [
        Measured(*row, int(n), "examples", task, task=NAMES[task])
        for row, n in zip(numbers.to_numpy(), rows["n"], strict=True)
    ]


MEASURES = (
    held_out_gain,
    average_effect,
    stratum_effect,
    layer_effect,
)
