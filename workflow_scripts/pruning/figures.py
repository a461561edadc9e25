"""The figures of importance and pruning (Michel et al. 2019, sections 4 and 6)."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects
from workflow_scripts.pruning.michel2019_one_head import OVER_EXAMPLES, over_runs

IMPORTANCE_COLUMNS = ("layer", "head", "variant", "importance", "normalised", "task", "seed")


def michel2019_importance(
    importance: list[Path], variant: str, svg: Out, pdf: Out, png: Out, table: Out
) -> None:
    """Draw a heat map per task, normalised by layer, and write all values; darker means more."""
    frame = tables.read_all(importance, IMPORTANCE_COLUMNS)
    shown = frame[frame["variant"] == variant]
    names = present_tasks(shown)
    grids = [heatmaps.grid_of(shown[shown["task"] == name], "normalised") for name in names]
    with figures.style():
        titles = [TASKS[name].title for name in names]
        figure, panels = heatmaps.sheet([""], titles, grids[0].shape)
        for axes, grid in zip(panels[0], grids, strict=True):
            image = heatmaps.draw(axes, grid, 0.0, max(each.max() for each in grids))
        heatmaps.bar(image, panels[0], "Importance / layer's norm")
        over = figures.sample(shown, "training examples of each task")
        figure.supxlabel(f"divided by the l2 norm of the layer's heads; {over}", fontsize=7)
        figures.save(figure, svg, pdf, png)
    frame = frame.assign(
        head=head_labels(frame), task=[TASKS[task].title for task in frame["task"]]
    )
    columns = ["task", "seed", "variant", "head"]
    columns += ["importance", "ci_low", "ci_high", "normalised", "n"]
    order = {"task": True, "seed": True, "variant": True, "normalised": False}
    frame = frame.sort_values(list(order), ascending=list(order.values()))
    tables.write_csv(frame[columns], table)


def _title(task: str, rows: pd.DataFrame) -> str:
    """A task with its metric, and how many examples and seeds are behind the curves."""
    n, seeds = rows["n"].max(), figures.counted(rows["seed"].nunique(), "seed")
    return f"{effects.title_of(task)}\nn = {n:.0f} examples, {seeds}"


def michel2019_fig3(
    curves: list[Path], svg: Out, pdf: Out, png: Out, table: Out, bootstrap: int, seed: int
) -> None:
    """Draw a panel per task on its main metric, and write its lines.

    Importance is named as estimated once, before pruning, or again before each step.
    """
    columns = ("task", "seed", "strategy", "recomputed", "pruned", "heads", "metric", "score")
    columns += tuple(OVER_EXAMPLES)
    frame = effects.on_main_metric(tables.read_all(curves, columns))
    names, lines = present_tasks(frame), []
    with figures.style():
        figure, panels = figures.panels(
            [_title(name, frame[frame["task"] == name]) for name in names],
            figures.TWO_COLUMNS / 3,
            1.9,
            columns=3,
        )
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            for strategy, look in colours.STRATEGIES.items():
                runs = rows[rows["strategy"] == strategy]
                if runs.empty:
                    continue
                line, recomputed = over_runs(runs, bootstrap, seed), runs["recomputed"].iloc[0]
                name = look.name
                if strategy == "importance":
                    name += ", estimated again each step" if recomputed else ", estimated once"
                share = 100 * line["pruned"] / runs["heads"].iloc[0]
                ends = 100 * line["score_low"], 100 * line["score_high"]
                figures.line(axes, share, 100 * line["score"], look, name, ends)
                labels = {"task": TASKS[task].title, "strategy": strategy}
                labels["recomputed"] = recomputed
                lines.append(line.assign(share=share, metric=TASKS[task].main_metric, **labels))
            axes.set_xlabel(f"Heads pruned, % of {rows['heads'].iloc[0]}")
            axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        panels[0].set_ylabel("Score, points")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)
    tables.write_csv(pd.concat(lines, ignore_index=True), table)


# Inches of a panel: of one or two tasks, and of more.
FEW, MANY = (figures.ONE_COLUMN, 3.2), (figures.TWO_COLUMNS / 3, 2.9)
# Where the legend begins below a panel, as a share of its height, and its columns.
BELOW_FEW, BELOW_MANY = (-0.22, 2), (-0.42, 1)
SCORES = ["score", "score_low", "score_high"]


def michel2019_fig5(
    curves: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out
) -> None:
    """Draw for each task the curves of all epochs, means over seeds, with their intervals.

    The legend has the correlation of an epoch's importance with the last one's, over heads.
    """
    columns = ("task", "epoch", "pruned", "heads", "metric", "n", "seed", *SCORES)
    frame = effects.on_main_metric(tables.read_all(curves, columns))
    agreements = tables.read_all(importance, ("task", "epoch", "agreement"))
    names = present_tasks(frame)
    with figures.style():
        titles = [_title(name, frame[frame["task"] == name]) for name in names]
        figure, panels = figures.panels(titles, *(FEW if len(names) < 3 else MANY), columns=3)
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            heads, epochs = rows["heads"].iloc[0], sorted(rows["epoch"].unique())
            agreement = agreements[agreements["task"] == task].groupby("epoch")["agreement"].mean()
            for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
                line = 100 * rows[rows["epoch"] == epoch].groupby("pruned")[SCORES].mean()
                name = figures.epoch_name(epoch, agreement)
                ends = line["score_low"], line["score_high"]
                figures.line(axes, 100 * line.index / heads, line["score"], look, name, ends)
            axes.set_xlabel(f"Heads pruned, % of {heads}")
            axes.set_ylabel("Score, points")
            figures.epoch_legend(axes, heads, *(BELOW_FEW if len(names) < 3 else BELOW_MANY))
        figures.save(figure, svg, pdf, png)


LOSSES = ["nats", "nats_low", "nats_high", "change", "change_low", "change_high"]


def over_draws(curves: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws of a strategy, of losses and of their intervals over documents.

    `random_low` and `random_high` are the smallest and the largest loss of a draw.
    """
    keys = ["unit", "strategy", "pruned", "units", "share", "n", "n_documents"]
    groups = curves.groupby(keys, sort=False)
    frame = groups[LOSSES].mean()
    frame = frame.assign(random_low=groups["nats"].min(), random_high=groups["nats"].max())
    return frame.assign(draws=groups["draw"].nunique()).reset_index()


def draw_losses(frame: pd.DataFrame) -> Figure:
    """A panel for each unit."""
    units = list(frame["unit"].unique())
    of = figures.sample(frame, "segments", "documents")
    titles = [f"{unit}s\n{of}" for unit in units]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.4, columns=2)
    for axes, unit in zip(panels, units, strict=True):
        for strategy, look in colours.STRATEGIES.items():
            rows = frame[(frame["unit"] == unit) & (frame["strategy"] == strategy)]
            if len(rows):
                name = f"{look.name} ({figures.counted(rows['draws'].iloc[0], 'order')})"
                ends = rows["nats_low"], rows["nats_high"]
                figures.line(axes, 100 * rows["share"], rows["nats"], look, name, ends)
        total = frame.loc[frame["unit"] == unit, "units"].iloc[0]
        axes.set_xlabel(f"Pruned, % of {total} {unit}s")
    panels[0].set_ylabel("Nats per token")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def michel2019_next_token_pruning(curves: Path, table: Out, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the curves, and write their points."""
    frame = over_draws(
        tables.read(curves, ("unit", "strategy", "draw", "pruned", "share", *LOSSES))
    )
    tables.write_csv(frame, table)
    with figures.style():
        figures.save(draw_losses(frame), svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
