"""Kovaleva et al. 2019, Figure 1: typical maps of the five classes."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.pattern_rules import CLASSES


def main(maps: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a column for each class; darkness is the square root of the weight over the largest."""
    frame = tables.read(
        maps, ("class", "place", "stage", "layer", "head", "query", "key", "weight")
    )
    n = frame["place"].max() + 1
    with figures.style():
        figure, cells = figures.new(figures.TWO_COLUMNS, 0.45 + 1.45 * n, len(CLASSES), n)
        for number, axes in enumerate(cells):
            row, column = divmod(number, len(CLASSES))
            chosen = (frame["class"] == CLASSES[column]) & (frame["place"] == row)
            rows = frame[chosen].sort_values(["query", "key"])
            if not len(rows):
                axes.axis("off")
                continue
            weights = rows["weight"].to_numpy().reshape(rows["query"].max() + 1, -1)
            shown = np.sqrt(weights / weights.max())
            axes.imshow(shown, cmap=colours.MORE, vmin=0, vmax=1, interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
            name = label(rows["layer"].iloc[0], rows["head"].iloc[0])
            stage = rows["stage"].iloc[0]
            axes.set_xlabel(f"head {name}, {stage}", fontsize=figures.SMALL, labelpad=2)
            if row == 0:
                axes.set_title(colours.CLASSES[CLASSES[column]].name.capitalize())
        figure.supxlabel("Keys, from [CLS] on the left", fontsize=7)
        figure.supylabel("Queries, from [CLS] at the top", fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
