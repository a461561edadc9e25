"""The figures and tables of importance and pruning (Michel et al. 2019, sections 4 and 6)."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean

ASCENDING = [True, True, True, False]  # task, seed, variant; the largest importance first
WRITTEN = ["task", "seed", "variant", "head", "importance", "ci_low", "ci_high", "normalised", "n"]


@figures.drawn
def michel2019_importance(importance: list[Path], variant: str, table: job.Out) -> Figure:
    """A heat map per task, normalised by layer; darker means more. The table has all values."""
    frame = tables.read_all(importance)
    shown = frame[frame["variant"] == variant]
    units = "training examples of each task"
    figure = heatmaps.of_tasks({"": shown}, "normalised", "Importance / layer's norm", units)
    titles = [TASKS[task].title for task in frame["task"]]
    frame = frame.assign(head=head_labels(frame), task=titles)
    frame = frame.sort_values(["task", "seed", "variant", "normalised"], ascending=ASCENDING)
    tables.write_csv(frame[WRITTEN], table)
    return figure


def _title(task: str, rows: pd.DataFrame) -> str:
    """A task with its metric, and how many examples and seeds are behind the curves."""
    n, seeds = rows["n"].max(), figures.counted(rows["seed"].nunique(), "seed")
    return f"{effects.title_of(task)}\nn = {n:.0f} examples, {seeds}"


@figures.drawn
def michel2019_fig3(curves: list[Path], table: job.Out, bootstrap: int, seed: int) -> Figure:
    """A panel per task on its main metric; the table has the lines.

    Importance is named as estimated once, before pruning, or again before each step.
    """
    frame = effects.on_main_metric(tables.read_all(curves))
    parts, lines = {name: frame[frame["task"] == name] for name in present_tasks(frame)}, []
    titles = [_title(name, rows) for name, rows in parts.items()]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.9, columns=3)
    for axes, (task, rows) in zip(panels, parts.items(), strict=True):
        heads = rows["heads"].iloc[0]
        for strategy, look in colours.STRATEGIES.items():
            runs = rows[rows["strategy"] == strategy]
            if runs.empty:
                continue
            line, recomputed = over_runs(runs, bootstrap, seed), runs["recomputed"].iloc[0]
            name = look.name
            if strategy == "importance":
                name += ", estimated again each step" if recomputed else ", estimated once"
            share = 100 * line["pruned"] / heads
            ends = 100 * line["score_low"], 100 * line["score_high"]
            figures.line(axes, share, 100 * line["score"], look, name, ends)
            about = {"metric": TASKS[task].main_metric, "task": TASKS[task].title}
            about |= {"strategy": strategy, "recomputed": recomputed}
            lines.append(line.assign(share=share, **about))
        axes.set_xlabel(f"Heads pruned, % of {heads}")
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    panels[0].set_ylabel("Score, points")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    tables.write_csv(pd.concat(lines, ignore_index=True), table)
    return figure


# Inches of a panel: of one or two tasks, and of more.
FEW, MANY = (figures.ONE_COLUMN, 3.2), (figures.TWO_COLUMNS / 3, 2.9)
# Where the legend begins below a panel, as a share of its height, and its columns.
BELOW_FEW, BELOW_MANY = (-0.22, 2), (-0.42, 1)
SCORES = ["score", "score_low", "score_high"]


@figures.drawn
def michel2019_fig5(curves: list[Path], importance: list[Path]) -> Figure:
    """For each task the curves of all epochs, means over seeds, with their intervals.

    The legend has the correlation of an epoch's importance with the last one's, over heads.
    """
    frame = effects.on_main_metric(tables.read_all(curves))
    agreements = tables.read_all(importance).groupby(["task", "epoch"])["agreement"].mean()
    parts = {name: frame[frame["task"] == name] for name in present_tasks(frame)}
    size, below = (FEW, BELOW_FEW) if len(parts) < 3 else (MANY, BELOW_MANY)
    titles = [_title(name, rows) for name, rows in parts.items()]
    figure, panels = figures.panels(titles, *size, columns=3)
    for axes, (task, rows) in zip(panels, parts.items(), strict=True):
        heads, epochs = rows["heads"].iloc[0], sorted(rows["epoch"].unique())
        for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
            line = 100 * rows[rows["epoch"] == epoch].groupby("pruned")[SCORES].mean()
            name = figures.epoch_name(epoch, agreements[task])
            ends = line["score_low"], line["score_high"]
            figures.line(axes, 100 * line.index / heads, line["score"], look, name, ends)
        axes.set_xlabel(f"Heads pruned, % of {heads}")
        axes.set_ylabel("Score, points")
        figures.epoch_legend(axes, heads, *below)
    return figure


LOSSES = ["nats", "nats_low", "nats_high", "change", "change_low", "change_high"]


@figures.drawn
def pruning_next_token(curves: Path, table: job.Out) -> Figure:
    """The curves of a decoder, a panel for each unit; the table has their points.

    Losses and the ends of their intervals over documents are means over the draws of a strategy;
    `random_low` and `random_high` are the smallest and the largest loss of a draw.
    """
    keys = ["unit", "strategy", "pruned", "units", "share", "n", "n_documents"]
    groups = tables.read(curves).groupby(keys, sort=False)
    frame = groups[LOSSES].mean()
    frame = frame.assign(random_low=groups["nats"].min(), random_high=groups["nats"].max())
    frame = frame.assign(draws=groups["draw"].nunique()).reset_index()
    tables.write_csv(frame, table)
    units = list(frame["unit"].unique())
    of = figures.sample(frame, "segments", "documents")
    titles = [f"{unit}s\n{of}" for unit in units]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.4, columns=2)
    for axes, unit in zip(panels, units, strict=True):
        of_unit = frame[frame["unit"] == unit]
        for strategy, look in colours.STRATEGIES.items():
            rows = of_unit[of_unit["strategy"] == strategy]
            if len(rows):
                name = f"{look.name} ({figures.counted(rows['draws'].iloc[0], 'order')})"
                ends = rows["nats_low"], rows["nats_high"]
                figures.line(axes, 100 * rows["share"], rows["nats"], look, name, ends)
        axes.set_xlabel(f"Pruned, % of {of_unit['units'].iloc[0]} {unit}s")
    panels[0].set_ylabel("Nats per token")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


# The strategies, and which head of each layer they keep.
KEPT = {"one-head": "most important", "one-head-random": "random"}
OVER_EXAMPLES = ["score_low", "score_high", "change", "change_low", "change_high", "n"]
PERCENT = ["score", "score_low", "score_high", "change", "change_low", "change_high", "change_sd"]


def over_runs(rows: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Per number of pruned heads: mean score over runs, its 95% interval and the number of runs.

    A run is a seed, for random orders a seed and draw. `runs_low` and `runs_high` sample runs with
    replacement; OVER_EXAMPLES are means over runs of each one's interval over examples, and
    `change_sd` is the runs' standard deviation.
    """
    wide = rows.pivot_table(index=["seed", "draw"], columns="pruned", values="score")
    mean, low, high = bootstrap_mean(wide.to_numpy(), draws, seed, INDEPENDENT)
    columns = {"score": mean, "runs_low": low, "runs_high": high, "runs": len(wide)}
    frame = pd.DataFrame({"pruned": wide.columns} | columns)
    by_step = rows.groupby("pruned")
    means = by_step[OVER_EXAMPLES].mean().assign(change_sd=by_step["change"].std())
    return frame.merge(means.reset_index(), on="pruned")


def michel2019_one_head(curves: list[Path], table: job.Out, bootstrap: int, seed: int) -> None:
    """Write one row per task and choice of the heads that stay, on the main metric, in percent.

    `unpruned` is the score with all heads, `majority` that of the most frequent class; `runs` are
    seeds, for random heads seeds and draws.
    """
    frame = effects.on_main_metric(tables.read_all(curves))
    rows = []
    for task in present_tasks(frame):
        for strategy, kept in KEPT.items():
            runs = frame[(frame["task"] == task) & (frame["strategy"] == strategy)]
            before, after = over_runs(runs, bootstrap, seed).to_dict("records")
            row = {"task": TASKS[task].title, "metric": TASKS[task].main_metric, "kept": kept}
            row |= {"heads_left": runs["heads"].iloc[0] - after["pruned"]}
            row |= {"unpruned": 100 * before["score"], "majority": 100 * runs["majority"].mean()}
            row |= {name: 100 * after[name] for name in PERCENT}
            rows.append(row | {name: after[name] for name in ("runs", "n")})
    tables.write_csv(pd.DataFrame(rows), table)


if __name__ == "__main__":
    job.run_figure(globals())
