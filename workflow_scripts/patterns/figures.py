"""The figures of Kovaleva et al. 2019, section 4.1."""

from itertools import product
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
from workflow_scripts.patterns.annotated_maps import CLASSES

TOP = 0.5  # the weight from which on the colour is the darkest
PANEL = 1.22  # inches of a map


@figures.drawn
def kovaleva2019_fig1(maps: Path) -> Figure:
    """Typical maps: a column for each class and a row for each place, all on one scale."""
    frame = tables.read(maps)
    n = frame["place"].max() + 1
    figure, cells = figures.new(figures.TWO_COLUMNS, 0.45 + (PANEL + 0.2) * n, len(CLASSES), n)
    for axes, (place, of) in zip(cells, product(range(n), CLASSES), strict=True):
        chosen = (frame["class"] == of) & (frame["place"] == place)
        rows = frame[chosen].sort_values(["query", "key"])
        if not len(rows):
            axes.axis("off")
            continue
        weights = rows["weight"].to_numpy().reshape(rows["query"].max() + 1, -1)
        image = axes.imshow(weights, cmap=colours.MORE, vmin=0, vmax=TOP, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
        first = rows.iloc[0]
        name = f"head {head_label(first['layer'], first['head'])}, {first['stage']}"
        axes.set_xlabel(name, fontsize=figures.SMALL, labelpad=2)
        if place == 0:
            axes.set_title(colours.CLASSES[of].name.capitalize())
    figure.supxlabel("Keys, from [CLS] on the left", fontsize=7)
    figure.supylabel("Queries, from [CLS] at the top", fontsize=7)
    heatmaps.bar(image, cells, "Attention weight", shrink=0.5, extend="max")
    return figure


WIDTH = 0.38


def legend_title(frame: pd.DataFrame, model: str) -> str:
    """For another model than the annotated one, that it is another; else nothing."""
    annotated = frame["annotated_model"].iloc[0]
    if model in annotated.split(","):
        return ""
    return f"maps of {model}, classified by\na network of {annotated}'s maps"


@figures.drawn
def kovaleva2019_fig2(shares: Path, model: str) -> Figure:
    """Two stacked bars per task: pretrained (hatched) and fine-tuned, the mean over seeds."""
    frame = tables.read(shares)
    frame = frame[frame["method"] == "network"]
    names = present_tasks(frame)
    positions = np.arange(len(names))
    figure, (axes,) = figures.new(figures.TWO_COLUMNS, 2.6)
    for side, (stage, look) in enumerate(colours.STAGES.items()):
        rows = frame[frame["stage"] == stage]
        means = rows.pivot_table(index="task", columns="class", values="share").loc[names]
        parts = {name: means[name].to_numpy() for name in CLASSES}
        at, style = positions + (side - 0.5) * WIDTH, {"hatch": look.hatch, "linewidth": 0.4}
        figures.stacked(axes, at, WIDTH * 0.95, parts, colours.CLASSES, **style)
    axes.set_xticks(positions, [TASKS[name].title for name in names])
    axes.set(ylabel="Share of maps, %", ylim=(0, 100))
    looks = [*reversed(colours.CLASSES.values()), *colours.STAGES.values()]
    handles = [
        Patch(fc=look.colour, hatch=look.hatch, ec=colours.WHITE, label=look.name) for look in looks
    ]
    legend = {"title": legend_title(frame, model), "title_fontsize": 7}
    figure.legend(handles=handles, loc="outside right center", **legend)
    tuned = frame[frame["stage"] == "fine-tuned"]
    figure.supxlabel(figures.sample(tuned, "examples of each task"), fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
