"""Our numbers for the claims of Michel et al. 2019 about heads of classifiers, and of decoders."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.ablation.measures import SCORES, set_title
from workflow_scripts.claims.numbers import (
    CONFIDENCE,
    MEAN_OF_ENDS,
    OVER_DOCUMENTS,
    OVER_EXAMPLES,
    apart,
    area,
    between_sets,
    bounded,
    ceiling,
    columns_of,
    counted,
    in_percent,
    order_of_noise,
    over_seeds,
    row_number,
    share_of_heads,
)
from workflow_scripts.claims.products import (
    NAMES,
    TITLES,
    Cases,
    NotMeasured,
    Products,
    measure,
    seeds_of,
)
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.tasks import TASKS

PREFERRED = {task.title: task.metrics[-1] for task in TASKS.values()}
PREFERRED["STS-B"] = TASKS["stsb"].main_metric
DEV = "dev"
CORRELATIONS = ("pearson", "spearman", "matthews")
TEXT = "text"  # what decoders are measured on instead of a task
BY_HEADS = "from heads whose intervals exclude 0 in every mode to those no two modes differ on"
# Tables of effects by mode and of attribution: of a decoder, of classifiers.
MODES = ("next-token-modes", "ablation-modes")
MODE_HEADS = ("next-token-mode-heads", "ablation-mode-heads")
ATTRIBUTION = ("next-token-attribution", "ablation-attribution")


def _in_one_metric(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task in one metric: accuracy or Pearson's correlation, or what there is."""
    parts = []
    for task, rows in table.groupby("task", sort=False):
        preferred = rows[rows["metric"] == PREFERRED[str(task)]]
        parts.append(preferred if len(preferred) else rows)
    return pd.concat(parts)


def _no_accuracy(metric: str) -> str:
    """Why points of a metric have no bound in points of accuracy; empty where they have."""
    if metric in CORRELATIONS:
        return "points of a correlation are not points of accuracy"
    return ""


def _development_sets(table: pd.DataFrame) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """The rows of each task and development set, in one metric, after what is stated of a number.

    With gates of 0. That is its case, task and seeds, and why it is not comparable with the paper's
    points of accuracy. Each seed has rows of its own.
    """
    table = _in_one_metric(table[table["mode"] == "zero"])
    parts = []
    for (task, split), rows in table.groupby(["task", "split"], sort=False):
        case = task if split == DEV else f"{task} {split.removeprefix('dev_')}"
        fields = {"case": case, "task": NAMES[task], "seeds": seeds_of(rows)}
        fields["not_comparable"] = _no_accuracy(rows["metric"].iloc[0])
        parts.append((fields, rows))
    return parts


@measure("michel2019-table1", "michel2019-power")
def classifier_heads_without_loss(products: Products, level: float, most: float) -> Cases:
    """Percent of heads whose masking alone loses nothing significant, on each development set.

    By the paper's criterion a loss has a p below the level, uncorrected: of a t-test, or of a
    randomisation test where the metric is no mean over examples. The lower end counts the heads
    that surely lose less than `most` points, of those without a significant loss: a test that finds
    little shows little. Mean over seeds.
    """
    for fields, rows in _development_sets(products["michel2019-table1"]):
        p = rows["p_t"].fillna(rows["p"])
        free = ~((rows["effect"] < 0) & (p < level))
        about = f"{_examples(rows)}; {_found(products, rows)} would be found after correction"
        number = bounded(rows["ci_low"] > -most, free, "heads", about=about, **fields)
        yield replace(number, n=rows["head"].nunique())  # not those of each seed


def _examples(rows: pd.DataFrame) -> str:
    return f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples"


def _found(products: Products, rows: pd.DataFrame) -> str:
    """The smallest loss of a head that the test finds with 80% power, largest over seeds."""
    wanted = {name: rows[name].iloc[0] for name in ("task", "split", "metric", "mode")}
    losses = products.rows("michel2019-power", unit="head", **wanted)["loss"]
    return "no loss" if losses.isna().any() else f"a loss of {losses.max():.1f} points"


@measure("michel2019-table3")
def classifier_layers_of_one_head(products: Products, column: str, most: float) -> Cases:
    """Percent of layers that lose less than some points with their best head alone.

    The column is the `effect` of the head that is chosen on the examples that measure it, as in
    Table 3, or the `gain` of one chosen on others, as in Table 6. 1.4 points are the smallest loss
    that an unpaired t-test finds at p < 0.01 on the paper's 9,815 examples, of which 83% are right.
    Mean over seeds.
    """
    for fields, rows in _development_sets(products["michel2019-table3"]):
        value, low, high = (rows[name] > -most for name in columns_of(rows, column))
        number = in_percent(counted(low, value, high, "layers", about=_examples(rows), **fields))
        yield replace(number, n=rows["layer"].nunique())


@measure("michel2019-table3")
def worst_layer_of_one_head(products: Products) -> Cases:
    """Points gained in the layer that loses most with its best head alone, chosen as in Table 3.

    Mean over seeds, whose worst layers may differ.
    """
    for fields, rows in _development_sets(products["michel2019-table3"]):
        worst = rows.loc[rows.groupby("seed")["effect"].idxmin()]
        left = [f"{row.head} left in layer {row.layer}" for row in worst.itertuples()]
        about = f"{worst['metric'].iloc[0]}, {' or '.join(dict.fromkeys(left))}"
        yield over_seeds(worst, "effect", about=about, **fields)


@measure("michel2019-pairs", SCORES)
def agreement(products: Products, correlation: float, task: str = "") -> Cases:
    """Correlation of all heads' effects on a task's development set and one of another domain.

    On every task, or one; `correlation` is the paper's. The number is not comparable where the
    effects are too noisy for it. The interval resamples heads.
    """
    rows = products["michel2019-pairs"]
    rows = rows[rows["mode"] == "zero"]
    halves = rows[rows["kind"] == "halves"].set_index("one")["pearson"]
    seeds = products.all_of(SCORES).groupby("task")["seed"].nunique()
    tasks = {set_title(name, DEV): name for name in seeds.index}
    rows = rows[(rows["kind"] == "datasets") & rows["one"].isin(tasks)]
    for row in rows.to_dict("records"):
        name = tasks[row["one"]]
        if task and TITLES[name] != task:
            continue
        of_both = halves[row["one"]], halves[f"{TITLES[name]} {row['other']}"]
        more = {"task": name, "seeds": int(seeds[name])}
        yield between_sets(row, *of_both, correlation, **more)


@measure("michel2019-fig3")
def pruned(products: Products, share: float, task: str = "") -> Cases:
    """Points gained with a share of the heads pruned by importance, on every task or one.

    Without a task the claim is of the paper's accuracy on MNLI, with which no correlation is
    comparable.
    """
    for title, rows in _curves(products, "importance").items():
        if task and title != task:
            continue
        row = rows.loc[(rows["share"] - share).abs().idxmin()]
        about = f"{row['metric']}, {row['share']:.0f}% of the heads"
        yield _mean_over_runs(row, about, 100, comparable=bool(task))


@measure("michel2019-fig3")
def order_area(products: Products) -> Cases:
    """Points by which importance beats ablation as an order, on average over all shares pruned.

    The average is the area of the curve, by trapezoids. Not comparable where the other order does
    not surely beat the random one, if there is one.
    """
    orders = ("importance", "ablation", "random")
    ones, others, random = (_curves(products, order) for order in orders)
    for task in sorted(ones.keys() & others.keys()):
        first, second = area(ones[task], "change"), area(others[task], "change")
        third = area(random[task], "change") if task in random else None
        about = f"{ones[task]['metric'].iloc[0]}, {first.value:+.1f} against {second.value:+.1f}"
        about += f"; a random order: {third.value:+.1f}" if third else ""
        more = {"about": about, "task": NAMES[task], "seeds": int(ones[task]["runs"].min())}
        more |= {"n": int(ones[task]["n"].iloc[0]), "of": "examples", "case": task}
        yield apart(first, second, not_comparable=order_of_noise(second, third), **more)


def _curves(products: Products, strategy: str) -> dict[str, pd.DataFrame]:
    """The curve of each task in an order of pruning, by the share pruned, in percent."""
    table = _in_one_metric(products["michel2019-fig3"])
    table = table[table["strategy"] == strategy].sort_values("share", kind="stable")
    return {str(task): rows for task, rows in table.groupby("task", sort=False)}


@measure("michel2019-one-head")
def one_head_each(products: Products) -> Cases:
    """Points gained with the most important head of every layer alone left.

    Those of a correlation are not comparable: the bound is of accuracy.
    """
    for _, row in products.rows("michel2019-one-head", kept="most important").iterrows():
        yield _mean_over_runs(row, f"{row['metric']}, {row['unpruned']:.1f} before")


def _mean_over_runs(
    row: pd.Series, about: str, scale: float = 1.0, comparable: bool = False
) -> Measured:
    """A change that is a mean over seeds, whose ends are means of theirs.

    That of a correlation is `comparable` only where the claim is of the task itself.
    """
    task, seeds = row["task"], int(row["runs"])
    more = {"case": task, "task": NAMES[task], "seeds": seeds, "about": about}
    more["not_comparable"] = "" if comparable else _no_accuracy(row["metric"])
    more["interval"] = MEAN_OF_ENDS if seeds > 1 else ""
    return row_number(row, "change", "examples", scale, **more)


@measure("michel2019-table4")
def speed_gain(products: Products, batch_size: int) -> Cases:
    """Percent by which inference gains speed with half of the heads removed.

    The interval is Student's, as if the two medians over repeats were means. Not comparable on a
    CPU.
    """
    rows = products.rows("michel2019-table4", batch_size=batch_size)
    for row in rows.itertuples():
        repeats = int(row.repeats)
        spread = math.hypot(row.original_sd / row.original, row.pruned_sd / row.pruned)
        degrees = 2 * (repeats - 1)
        t = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, degrees) if degrees else math.nan
        half, ratio = t * spread / math.sqrt(repeats), row.pruned / row.original
        ends = (100 * (ratio * factor - 1) for factor in (1, 1 - half, 1 + half))
        more = {"about": f"{row.device}, {row.threads} thread(s)", "task": NAMES[row.task]}
        more["interval"] = "95% over repeats (Student)"
        if row.device == "cpu":
            more["not_comparable"] = "measured on a CPU"
        yield Measured(*ends, repeats, "repeats", row.task, **more)


@measure(*MODES)
def modes_rank(products: Products, mode: str, other_mode: str) -> Cases:
    """Spearman's correlation over heads of the effects on the loss in two modes, for each task.

    Of several seeds the mean, of values and of ends. Noise of the effects lowers the correlation:
    the upper end is divided by what halves of the examples show that noise leaves of a perfect one.
    """
    for task, rows in _two_modes(products, mode, other_mode):
        most = [
            ceiling(*pair) for pair in rows[["halves_one", "halves_other"]].itertuples(index=False)
        ]
        highs = [_without_noise(*pair) for pair in zip(rows["rho_high"], most, strict=True)]
        number = [float(rows[name].mean()) for name in ("rho", "rho_low")]
        about = f"{int(rows['n_heads'].iloc[0])} heads; "
        about += f"independent noise leaves at most {np.mean(most):.2f}"
        n, unit, over = _resampled(task, rows)
        more = {"interval": f"{over}, the upper end without noise", "about": about}
        yield Measured(*number, float(np.mean(highs)), n, unit, **more, **_on_task(task, rows))


@measure(*MODES)
def modes_opposite(products: Products, mode: str, other_mode: str) -> list[Measured]:
    """Percent of the heads with p below .05 in two modes whose effects have opposite signs.

    Signs of the others are mostly noise.
    """
    numbers = []
    for task, rows in _two_modes(products, mode, other_mode):
        opposite, both = (int(rows[f"{name}_nominal"].sum()) for name in ("opposite", "both"))
        if not both:
            continue
        about = f"{opposite} of {both} heads with p below .05 in both modes"
        more = {"interval": "95% of a share of heads (Wilson)", "about": about}
        numbers.append(share_of_heads(opposite, both, **more, **_on_task(task, rows)))
    if not numbers:
        raise NotMeasured("no head has p below .05 in both modes")
    return numbers


@measure(*MODE_HEADS)
def modes_verdict(products: Products) -> list[Measured]:
    """Percent of the heads with an effect, in some mode or between two, shown in every mode.

    On the loss of each task, or of running text, and of all seeds together.
    """
    numbers = []
    for task, rows in _first(products, MODE_HEADS).groupby("task", sort=False):
        rows = rows[(rows["of"] == "loss") & (rows["verdict"] != "no effect shown")]
        if rows.empty:
            continue
        in_all = rows["verdict"] == "in all modes"
        lows, highs = (rows.filter(regex=f"^{end}_") for end in ("low", "high"))
        sure = in_all & ((lows > 0).all(axis=1) | (highs < 0).all(axis=1))
        counts = (in_all.sum(), sure.sum(), (rows["verdict"] != "depends on the mode").sum())
        value = [float(100 * count / len(rows)) for count in counts]
        more = {"interval": BY_HEADS, **_on_task(str(task), rows)}
        numbers.append(Measured(*value, len(rows), "heads", **more))
    if not numbers:
        raise NotMeasured("no head has an effect on the loss in any mode")
    return numbers


@measure(*ATTRIBUTION)
def attribution_rank(products: Products, estimate: str, against: str = "effect") -> list[Measured]:
    """Spearman's correlation over heads of an estimate with the exact effects, for each task.

    The estimate is a mode, or "importance", which has no sign and may be compared `against` the
    mean "size" of the effects on single texts. Of several seeds the mean, of values and of ends.
    """
    return _attribution(products, estimate, "rho", against)


@measure(*ATTRIBUTION)
def attribution_missed(products: Products, estimate: str) -> list[Measured]:
    """Percent of the tenth of heads that cost most outside the first of the estimate."""
    return _attribution(products, estimate, "top_missed", over="top")


def _attribution(
    products: Products, estimate: str, name: str, against: str = "effect", over: str = ""
) -> list[Measured]:
    table = _first(products, ATTRIBUTION)
    table = table[(table["estimate"] == estimate) & (table["against"] == against)]
    numbers = []
    for task, rows in table.groupby("task", sort=False):
        ends = rows[[name, f"{name}_low", f"{name}_high"]].mean()
        heads = rows["n_heads"].iloc[0]
        about = f"{heads} heads"
        if over:
            ends = 100 * ends / rows[over].iloc[0]
            about = f"{rows[over].iloc[0]} heads of {heads}, {rows['first'].iloc[0]} of them first"
        n, unit, interval = _resampled(str(task), rows)
        more = {"interval": interval, "about": about, **_on_task(str(task), rows)}
        numbers.append(Measured(*ends.tolist(), n, unit, **more))
    if not numbers or any(pd.isna(number.value) for number in numbers):
        raise NotMeasured(f"the study has no attribution {estimate}")
    return numbers


def _two_modes(products: Products, *modes: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each task with the rows of two modes on its loss, one for each seed."""
    table = _first(products, MODES)
    table = table[(table["of"] == "loss") & table[["one", "other"]].isin(modes).all(axis=1)]
    if table.empty:
        raise NotMeasured(f"the study does not disable heads in both modes {' and '.join(modes)}")
    for task, rows in table.groupby("task", sort=False):
        yield str(task), rows


def _without_noise(end: float, most: float) -> float:
    """The upper end of a correlation, divided by the most that noise leaves of a perfect one."""
    if end <= 0:
        return end
    return min(1.0, end / most) if most > 0 else 1.0


def _first(products: Products, names: tuple[str, str]) -> pd.DataFrame:
    """The table of a decoder, or else that of classifiers."""
    decoders, classifiers = names
    return products[decoders if f"tables/{decoders}.csv" in products else classifiers]


def _resampled(task: str, rows: pd.DataFrame) -> tuple[int, str, str]:
    """What the intervals of `rows` resample: its number, its unit, and the words for it."""
    if task == TEXT:
        return int(rows["n_documents"].iloc[0]), "documents", OVER_DOCUMENTS
    return int(rows["n"].iloc[0]), "examples", OVER_EXAMPLES


def _on_task(task: str, rows: pd.DataFrame) -> dict[str, Any]:
    """What is stated of a number on a task; nothing of running text."""
    if task == TEXT:
        return {}
    return {"case": TITLES[task], "task": task, "seeds": seeds_of(rows)}
