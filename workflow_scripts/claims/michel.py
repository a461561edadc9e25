"""Our numbers for the claims of Michel et al. 2019 about BERT's heads, masked one at a time."""

from dataclasses import replace
from typing import Any

import pandas as pd

from workflow_scripts.ablation.measures import SCORES, set_title
from workflow_scripts.claims.glue_rows import NAMES
from workflow_scripts.claims.intervals import BOUNDS, bounded, counted, over_seeds
from workflow_scripts.claims.noise import too_noisy
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.glue import TASKS

Fields = dict[str, Any]
PREFERRED = {task.title: task.metrics[-1] for task in TASKS.values()}
PREFERRED["STS-B"] = TASKS["stsb"].main_metric
DEV = "dev"
CORRELATIONS = ("pearson", "spearman", "matthews")


def in_one_metric(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task in one metric: accuracy or Pearson's correlation, or what there is."""
    parts = []
    for task, rows in table.groupby("task", sort=False):
        preferred = rows[rows["metric"] == PREFERRED[str(task)]]
        parts.append(preferred if len(preferred) else rows)
    return pd.concat(parts)


def no_accuracy(metric: str) -> str:
    """Why points of a metric have no bound in points of accuracy; empty where they have."""
    if metric in CORRELATIONS:
        return "points of a correlation are not points of accuracy"
    return ""


def _development_sets(table: pd.DataFrame, **wanted: str) -> list[tuple[Fields, pd.DataFrame]]:
    """The rows of each task and development set, in one metric, after what is stated of a number.

    That is its case, task and seeds, and why it is not comparable with the paper's points of
    accuracy. Each seed has rows of its own.
    """
    for column, value in wanted.items():
        table = table[table[column] == value]
    parts = []
    for (task, split), rows in in_one_metric(table).groupby(["task", "split"], sort=False):
        case = task if split == DEV else f"{task} {split.removeprefix('dev_')}"
        fields = {"case": case, "task": NAMES[task], "seeds": rows["seed"].nunique()}
        fields["not_comparable"] = no_accuracy(rows["metric"].iloc[0])
        parts.append((fields, rows))
    return parts


def classifier_heads_without_loss(products: Products, of: str) -> list[Measured]:
    """Percent of heads whose masking alone loses nothing significant, on each development set.

    `of` is like "0.01 1.4". By the paper's criterion a loss has a p below the first number,
    uncorrected: of a t-test, or of a randomisation test where the metric is no mean over examples.
    The lower end counts the heads that surely lose less than the second number of points, of those
    without a significant loss: a test that finds little shows little. Mean over seeds.
    """
    level, most = map(float, of.split())
    numbers = []
    for fields, rows in _development_sets(products["michel2019-table1"], mode="zero"):
        p = rows["p_t"].fillna(rows["p"])
        free = ~((rows["effect"] < 0) & (p < level))
        about = f"{_examples(rows)}; {_found(products, rows)} would be found after correction"
        number = bounded(rows["ci_low"] > -most, free, "heads", about=about, **fields)
        numbers.append(replace(number, n=rows["head"].nunique()))  # not those of each seed
    return numbers


def _examples(rows: pd.DataFrame) -> str:
    return f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples"


def _found(products: Products, rows: pd.DataFrame) -> str:
    """The smallest loss of a head that the test finds with 80% power, largest over seeds."""
    wanted = {name: rows[name].iloc[0] for name in ("task", "split", "metric", "mode")}
    losses = products.rows("michel2019-power", unit="head", **wanted)["loss"]
    return "no loss" if losses.isna().any() else f"a loss of {losses.max():.1f} points"


def classifier_layers_of_one_head(products: Products, of: str) -> list[Measured]:
    """Percent of layers that lose less than some points with their best head alone.

    `of` is like "effect 1.4": of the head that is chosen on the examples that measure it, as in
    Table 3, or the `gain` of one chosen on others, as in Table 6. 1.4 points are the smallest loss
    that an unpaired t-test finds at p < 0.01 on the paper's 9,815 examples, of which 83% are right.
    Mean over seeds.
    """
    column, most = of.split()
    low, high = ("ci_low", "ci_high") if column == "effect" else ("gain_low", "gain_high")
    numbers = []
    for fields, rows in _development_sets(products["michel2019-table3"], mode="zero"):
        number = counted(*(rows[name] > -float(most) for name in (low, column, high)))
        ends = (100 * x / len(rows) for x in (number.value, number.low, number.high))
        more = fields | {"about": _examples(rows), "interval": BOUNDS}
        numbers.append(Measured(*ends, rows["layer"].nunique(), "layers", **more))
    return numbers


def worst_layer_of_one_head(products: Products, of: str) -> list[Measured]:
    """Points gained in the layer that loses most with its best head alone, chosen as in Table 3.

    Mean over seeds, whose worst layers may differ.
    """
    numbers = []
    for fields, rows in _development_sets(products["michel2019-table3"], mode="zero"):
        worst = rows.loc[rows.groupby("seed")["effect"].idxmin()]
        left = [f"{row.head} left in layer {row.layer}" for row in worst.itertuples()]
        about = f"{worst['metric'].iloc[0]}, {' or '.join(dict.fromkeys(left))}"
        number, stated = over_seeds(worst, "effect", "ci_low", "ci_high")
        n, more = int(worst["n"].iloc[0]), fields | stated | {"about": about}
        numbers.append(Measured(*number, n, "examples", **more))
    return numbers


def agreement(products: Products, of: str) -> list[Measured]:
    """Correlation of all heads' effects on a task's development set and one of another domain.

    `of` is the paper's correlation, and may name a task: "0.68 mnli". The number is not comparable
    where the effects are too noisy for it. The interval resamples heads.
    """
    paper, *wanted = of.split()
    rows = products["michel2019-pairs"]
    rows = rows[rows["mode"] == "zero"]
    halves = rows[rows["kind"] == "halves"].set_index("one")["pearson"]
    seeds = products.all_of(SCORES).groupby("task")["seed"].nunique()
    tasks = {set_title(task, DEV): task for task in seeds.index}
    numbers = []
    for row in rows[(rows["kind"] == "datasets") & rows["one"].isin(tasks)].itertuples():
        task = tasks[row.one]
        if wanted and task not in wanted:
            continue
        one, other = halves[row.one], halves[f"{TASKS[task].title} {row.other}"]
        about = f"halves of {row.one}: {one:.2f}, of {row.other}: {other:.2f}"
        more = {"about": about, "task": task, "seeds": int(seeds[task])}
        more["not_comparable"] = too_noisy(one, other, float(paper))
        more["interval"] = "95% over heads"
        ends, case = (row.pearson, row.pearson_low, row.pearson_high), f"{row.one} and {row.other}"
        numbers.append(Measured(*ends, int(row.n), "heads", case, **more))
    return numbers


MEASURES = (
    classifier_heads_without_loss,
    classifier_layers_of_one_head,
    worst_layer_of_one_head,
    agreement,
)
