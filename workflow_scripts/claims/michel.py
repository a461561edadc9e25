"""Our numbers for the claims of Michel et al. 2019 about BERT."""

from typing import Any

import pandas as pd

from workflow_scripts.ablation.measures import SCORES, seed_title, set_title
from workflow_scripts.claims.glue_rows import NAMES, TITLES
from workflow_scripts.claims.intervals import counted, minus, share
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.pruning.measures import EPOCHS

Fields = dict[str, Any]
PREFERRED = {task.title: task.metrics[-1] for task in TASKS.values()}
PREFERRED["STS-B"] = TASKS["stsb"].main_metric


def _in_one_metric(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task in one metric: accuracy or Pearson's correlation, or what there is."""
    parts = []
    for task, rows in table.groupby("task", sort=False):
        preferred = rows[rows["metric"] == PREFERRED[str(task)]]
        parts.append(preferred if len(preferred) else rows)
    return pd.concat(parts)


def _development_sets(table: pd.DataFrame, **wanted: str) -> list[tuple[Fields, pd.DataFrame]]:
    """The rows of each task and development set, in one metric, after case, task and seeds."""
    for column, value in wanted.items():
        table = table[table[column] == value]
    parts = []
    for (task, split), rows in _in_one_metric(table).groupby(["task", "split"], sort=False):
        case = task if split == "dev" else f"{task} {split.removeprefix('dev_')}"
        seeds = rows["seed"].nunique()
        parts.append(({"case": case, "task": NAMES[task], "seeds": seeds}, rows))
    return parts


def harmless_heads(products: Products, of: str) -> list[Measured]:
    """Percent of heads whose masking alone costs less than `of` points, on each development set.

    The lower end counts heads whose whole interval lies above the loss, the upper one those whose
    interval reaches above it. Next to it: the heads with a significant loss, and the loss that
    would have been found.
    """
    numbers, most = [], -float(of)
    for fields, rows in _development_sets(products["michel2019-table1"], mode="zero"):
        number = counted(rows["ci_low"] > most, rows["effect"] > most, rows["ci_high"] > most)
        ends = (100 * x / len(rows) for x in (number.value, number.low, number.high))
        lost = int(((rows["p_corrected"] < 0.05) & (rows["effect"] < 0)).sum())
        about = f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples; "
        about += f"{lost} with a significant loss, {_found(products, rows)} would be found"
        numbers.append(Measured(*ends, len(rows), "heads", about=about, **fields))
    return numbers


def _found(products: Products, rows: pd.DataFrame) -> str:
    """The smallest loss of a head that the test finds with 80% power, largest over seeds."""
    wanted = {name: rows[name].iloc[0] for name in ("task", "split", "metric", "mode")}
    losses = products.rows("michel2019-power", unit="head", **wanted)["loss"]
    return "none" if losses.isna().any() else f"one of {losses.max():.1f} points"


def heads_that_matter(products: Products, of: str) -> list[Measured]:
    """Percent of heads whose masking changes the score with an uncorrected p below `of`.

    By the paper's paired t-test over examples, where the metric is a mean over them.
    """
    numbers = []
    for fields, rows in _development_sets(products["michel2019-table1"], mode="zero"):
        p = rows["p_t"].fillna(rows["p"])
        count, n = int((p < float(of)).sum()), len(rows)
        about = f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples"
        ends = 100 * count / n, *share(count, n)
        numbers.append(Measured(*ends, n, "heads", about=about, **fields))
    return numbers


def single_head_layers(products: Products, of: str) -> list[Measured]:
    """Percent of layers that lose less than `of` points with one head, chosen on other examples."""
    numbers, most = [], -float(of)
    for fields, rows in _development_sets(products["michel2019-table3"], mode="zero"):
        names = ("gain_low", "gain", "gain_high")
        number = counted(*(rows[name] > most for name in names))
        ends = (100 * x / len(rows) for x in (number.value, number.low, number.high))
        about = f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples"
        numbers.append(Measured(*ends, len(rows), "layers", about=about, **fields))
    return numbers


def pruned(products: Products, of: str) -> list[Measured]:
    """Points gained with a share of the heads pruned; `of` is like "40 importance"."""
    at, strategy = of.split()
    return [_change(rows, case) for case, rows in _at_share(products, float(at), strategy).items()]


def pruning_gain(products: Products, of: str) -> list[Measured]:
    """Points by which one order beats another; `of` is like "50 importance over random"."""
    at, one, _, other = of.split()
    ones, others = (_at_share(products, float(at), strategy) for strategy in (one, other))
    numbers = []
    for case in ones.keys() & others.keys():
        first, second = _change(ones[case], case), _change(others[case], case)
        ends = minus(first, second)
        about = f"{ones[case]['metric']}, {first.value:+.1f} against {second.value:+.1f}"
        numbers.append(Measured(*ends, first.n, "examples", case, about=about, task=first.task))
    return sorted(numbers, key=lambda number: number.case)


def _at_share(products: Products, at: float, strategy: str) -> dict[str, pd.Series]:
    """The row of each task whose share of pruned heads, in percent, is nearest to `at`."""
    table = _in_one_metric(products.rows("michel2019-fig3", strategy=strategy))
    return {
        str(task): rows.loc[(rows["share"] - at).abs().idxmin()]
        for task, rows in table.groupby("task", sort=False)
    }


def _change(row: pd.Series, case: str) -> Measured:
    ends = (100 * row[name] for name in ("change", "change_low", "change_high"))
    about = f"{row['metric']}, {row['share']:.0f}% of the heads, {row['runs']} order(s)"
    return Measured(*ends, int(row["n"]), "examples", case, about=about, task=NAMES[case])


def one_head_each(products: Products, of: str) -> list[Measured]:
    """Points gained with the most important head of every layer alone left."""
    rows = products.rows("michel2019-one-head", kept="most important")
    return [
        Measured(
            *(row[name] for name in ("change", "change_low", "change_high")),
            int(row["n"]),
            "examples",
            row["task"],
            about=f"{row['metric']}, {row['unpruned']:.1f} before",
            task=NAMES[row["task"]],
        )
        for _, row in rows.iterrows()
    ]


def agreement(products: Products, of: str) -> list[Measured]:
    """Correlation of the effects of all heads on two data sets; `of` is a kind of pairs."""
    rows = products.rows("michel2019-pairs", kind=of, mode="zero")
    halves = products["michel2019-pairs"]
    halves = halves[(halves["kind"] == "halves") & (halves["mode"] == "zero")]
    agree = dict(zip(halves["one"], halves["pearson"], strict=True))
    tasks = _tasks_of_sets(products)
    return [
        Measured(
            row.pearson,
            row.pearson_low,
            row.pearson_high,
            int(row.n),
            "heads",
            f"{row.one} and {row.other}",
            about=f"halves of {row.one}: {agree[row.one]:.2f}" if row.one in agree else "",
            task=tasks[row.one],
        )
        for row in rows.itertuples()
    ]


def _tasks_of_sets(products: Products) -> dict[str, str]:
    """The task of each task, development set or seed that the table of pairs names."""
    scores = products.all_of(SCORES)[["task", "split", "seed"]].drop_duplicates()
    return {
        name: task
        for task, split, seed in scores.itertuples(index=False)
        for name in (TITLES[task], set_title(task, split), seed_title(task, seed))
    }


def speed_gain(products: Products, of: str) -> list[Measured]:
    """Percent by which inference gains speed with half of the heads removed, at batches of `of`."""
    rows = products.rows("michel2019-table4", batch_size=int(of))
    numbers = []
    for row in rows.itertuples():
        spread = 1.96 * (row.original_sd / row.original + row.pruned_sd / row.pruned)
        value = row.pruned / row.original
        ends = (100 * (x - 1) for x in (value, value * (1 - spread), value * (1 + spread)))
        about = f"{row.device}, {row.threads} thread(s)"
        more = {"about": about, "task": NAMES[row.task]}
        numbers.append(Measured(*ends, int(row.repeats), "repeats", row.task, **more))
    return numbers


def early_importance(products: Products, of: str) -> list[Measured]:
    """Rank correlation of importance after epoch `of` with that after the last epoch."""
    epochs = products.all_of(EPOCHS)
    rows = epochs[epochs["epoch"] == int(of)]
    return [
        Measured(
            group["agreement"].iloc[0],
            float("nan"),
            float("nan"),
            len(group),
            "heads",
            TITLES[task],
            task=task,
        )
        for task, group in rows.groupby("task", sort=False)
    ]


MEASURES = (
    harmless_heads,
    heads_that_matter,
    single_head_layers,
    pruned,
    pruning_gain,
    one_head_each,
    agreement,
    speed_gain,
    early_importance,
)
