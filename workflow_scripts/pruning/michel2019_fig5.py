"""Michel et al. 2019, Figure 5: pruning after each epoch of fine-tuning."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import colours, epoch_names, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects

# Inches of a panel: of one or two tasks, and of more.
FEW, MANY = (figures.ONE_COLUMN, 3.2), (figures.TWO_COLUMNS / 3, 2.9)
# Where the legend begins below a panel, as a share of its height, and its columns.
BELOW_FEW, BELOW_MANY = (-0.22, 2), (-0.42, 1)
SCORES = ["score", "score_low", "score_high"]


def title(task: str, rows: pd.DataFrame) -> str:
    """A task with its metric, and how many examples and seeds are behind the curves."""
    n, seeds = rows["n"].max(), figures.counted(rows["seed"].nunique(), "seed")
    return f"{effects.title_of(task)}\nn = {n:.0f} examples, {seeds}"


def main(curves: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw for each task the curves of all epochs, means over seeds, with their intervals.

    The legend has the correlation of an epoch's importance with the last one's, over heads.
    """
    columns = ("task", "epoch", "pruned", "heads", "metric", "n", "seed", *SCORES)
    frame = effects.on_main_metric(tables.read_all(curves, columns))
    agreements = tables.read_all(importance, ("task", "epoch", "agreement"))
    names = present(frame)
    with figures.style():
        titles = [title(name, frame[frame["task"] == name]) for name in names]
        figure, panels = figures.panels(titles, *(FEW if len(names) < 3 else MANY), columns=3)
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            heads, epochs = rows["heads"].iloc[0], sorted(rows["epoch"].unique())
            agreement = agreements[agreements["task"] == task].groupby("epoch")["agreement"].mean()
            for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
                line = 100 * rows[rows["epoch"] == epoch].groupby("pruned")[SCORES].mean()
                name = epoch_names.name(epoch, agreement)
                ends = line["score_low"], line["score_high"]
                figures.line(axes, 100 * line.index / heads, line["score"], look, name, ends)
            axes.set_xlabel(f"Heads pruned, % of {heads}")
            axes.set_ylabel("Score, points")
            epoch_names.legend(axes, heads, *(BELOW_FEW if len(names) < 3 else BELOW_MANY))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
