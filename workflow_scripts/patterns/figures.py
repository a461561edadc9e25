"""The figures of Kovaleva et al. 2019, section 4.1."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import CLASSES

TOP = 0.5  # the weight from which on the colour is the darkest
PANEL = 1.22  # inches of a map


def draw_maps(frame: pd.DataFrame) -> Figure:
    """A column for each class and a row for each place, all on one scale of attention weights."""
    n = frame["place"].max() + 1
    width = figures.TWO_COLUMNS
    figure, cells = figures.new(width, 0.45 + (PANEL + 0.2) * n, len(CLASSES), n)
    for number, axes in enumerate(cells):
        row, column = divmod(number, len(CLASSES))
        chosen = (frame["class"] == CLASSES[column]) & (frame["place"] == row)
        rows = frame[chosen].sort_values(["query", "key"])
        if not len(rows):
            axes.axis("off")
            continue
        weights = rows["weight"].to_numpy().reshape(rows["query"].max() + 1, -1)
        image = axes.imshow(weights, cmap=colours.MORE, vmin=0, vmax=TOP, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
        name = head_label(rows["layer"].iloc[0], rows["head"].iloc[0])
        stage = rows["stage"].iloc[0]
        axes.set_xlabel(f"head {name}, {stage}", fontsize=figures.SMALL, labelpad=2)
        if row == 0:
            axes.set_title(colours.CLASSES[CLASSES[column]].name.capitalize())
    figure.supxlabel("Keys, from [CLS] on the left", fontsize=7)
    figure.supylabel("Queries, from [CLS] at the top", fontsize=7)
    heatmaps.bar(image, cells, "Attention weight", shrink=0.5, extend="max")
    return figure


def kovaleva2019_fig1(maps: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the typical maps of each class; darker for more attention."""
    columns = ("class", "place", "stage", "layer", "head", "query", "key", "weight")
    with figures.style():
        figures.save(draw_maps(tables.read(maps, columns)), svg, pdf, png)


WIDTH = 0.38
STAGES = ("pretrained", "fine-tuned")


def legend_title(frame: pd.DataFrame, model: str) -> str:
    """For another model than the annotated one, that it is another; else nothing."""
    annotated = frame["annotated_model"].iloc[0]
    if model in annotated.split(","):
        return ""
    return f"maps of {model}, classified by\na network of {annotated}'s maps"


def kovaleva2019_fig2(shares: Path, svg: Out, pdf: Out, png: Out, model: str) -> None:
    """Draw two stacked bars per task: pretrained (hatched) and fine-tuned, the mean over seeds."""
    frame = tables.read(shares, ("class", "share", "task", "stage", "method", "annotated_model"))
    frame = frame[frame["method"] == "network"]
    mean = frame.groupby(["task", "stage", "class"])["share"].mean()
    names = present_tasks(frame)
    positions = np.arange(len(names))
    with figures.style():
        figure, (axes,) = figures.new(figures.TWO_COLUMNS, 2.6)
        for side, stage in enumerate(STAGES):
            bottom = np.zeros(len(names))
            for name in CLASSES:
                values = np.array([100 * mean[task, stage, name] for task in names])
                axes.bar(
                    positions + (side - 0.5) * WIDTH,
                    values,
                    WIDTH * 0.95,
                    bottom=bottom,
                    color=colours.CLASSES[name].colour,
                    hatch=colours.STAGES[stage].hatch,
                    edgecolor=colours.WHITE,
                    linewidth=0.4,
                )
                bottom += values
        axes.set_xticks(positions, [TASKS[name].title for name in names])
        axes.set(ylabel="Share of maps, %", ylim=(0, 100))
        looks = [*reversed(colours.CLASSES.values()), *colours.STAGES.values()]
        handles = [Patch(fc=look.colour, hatch=look.hatch, ec=colours.WHITE) for look in looks]
        names = [look.name for look in looks]
        note = legend_title(frame, model)
        figure.legend(handles, names, loc="outside right center", title=note, title_fontsize=7)
        tuned = frame[frame["stage"] == "fine-tuned"]
        over = figures.sample(tuned, "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
