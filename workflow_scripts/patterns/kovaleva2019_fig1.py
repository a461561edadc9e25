"""Kovaleva et al. 2019, Figure 1: typical maps of the five classes."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.pattern_rules import CLASSES

TOP = 0.5  # the weight from which on the colour is the darkest
PANEL = 1.22  # inches of a map


def draw(frame: pd.DataFrame) -> Figure:
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
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(True)
        name = label(rows["layer"].iloc[0], rows["head"].iloc[0])
        stage = rows["stage"].iloc[0]
        axes.set_xlabel(f"head {name}, {stage}", fontsize=figures.SMALL, labelpad=2)
        if row == 0:
            axes.set_title(colours.CLASSES[CLASSES[column]].name.capitalize())
    figure.supxlabel("Keys, from [CLS] on the left", fontsize=7)
    figure.supylabel("Queries, from [CLS] at the top", fontsize=7)
    heatmaps.bar(image, cells, "Attention weight", shrink=0.5, extend="max")
    return figure


def main(maps: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the typical maps of each class; darker for more attention."""
    columns = ("class", "place", "stage", "layer", "head", "query", "key", "weight")
    with figures.style():
        figures.save(draw(tables.read(maps, columns)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
