"""Accuracy of every run, on the original test points and on the adversarial set."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from workflow_scripts.arguments.setups import FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import last_split
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# Titles of the panels: the training set and the points measured.
PANELS = {
    "trained on original\nmeasured on original": ("original", "original"),
    "trained on original\nmeasured on negated": ("original", "negated"),
    "trained on swapped\nmeasured on adversarial": ("swapped", "adversarial"),
    "trained on negated\nmeasured on adversarial": ("negated", "adversarial"),
}


def draw(axes: Axes, rows: pd.DataFrame, setups: list[str]) -> None:
    """One panel: a marker per run, hollow where degenerate, and a line at each median."""
    for number, (family, title) in enumerate(FAMILIES.items()):
        shift = 0.24 * (number - 1)
        for column, setup in enumerate(setups):
            runs = rows[(rows["family"] == family) & (rows["setup"] == setup)]
            if not len(runs):
                continue
            x = column + shift + np.linspace(-0.05, 0.05, len(runs)) * (len(runs) > 1)
            for degenerate, fill in ((False, figures.COLOURS[number]), (True, "none")):
                chosen = (runs["degenerate"] == degenerate).to_numpy()
                axes.plot(
                    x[chosen],
                    runs["accuracy"][chosen],
                    figures.MARKERS[number],
                    markerfacecolor=fill,
                    markeredgecolor=figures.COLOURS[number],
                    label=title if column == 0 and not degenerate else None,
                )
            median, middle = runs["accuracy"].median(), column + shift
            axes.hlines(median, middle - 0.1, middle + 0.1, figures.COLOURS[number])
    axes.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(setups)), [TITLES[setup] for setup in setups])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def main(scores: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the panels that the study has runs for."""
    frame = tables.read(scores, ("family", "trained_on", "setup", "points", "split", "accuracy"))
    frame = frame[frame["split"] == last_split(frame)]
    parts = {
        title: frame[(frame["trained_on"] == trained) & (frame["points"] == points)]
        for title, (trained, points) in PANELS.items()
    }
    parts = {title: rows for title, rows in parts.items() if len(rows)}
    frame = pd.concat(parts.values())
    setups = [setup for setup in SETUPS if setup in set(frame["setup"])]
    with figures.style():
        figure, axes = figures.panels(list(parts), 1.9, 2.1, columns=4)
        for panel, rows in zip(axes, parts.values(), strict=True):
            draw(panel, rows, setups)
            panel.set_ylim(frame["accuracy"].min() - 0.03, frame["accuracy"].max() + 0.03)
        axes[0].set_ylabel("Accuracy")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
