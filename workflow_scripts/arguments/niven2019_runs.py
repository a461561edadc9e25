"""Accuracy of every run, on the original test points and on the adversarial set."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from workflow_scripts.arguments.setups import SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import last_split
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# Titles of the panels: the training set and the points measured.
PANELS = {
    "trained on original,\nmeasured on original points": ("original", "original"),
    "trained on original,\nmeasured on negated points": ("original", "negated"),
    "trained on swapped,\nmeasured on adversarial points": ("swapped", "adversarial"),
    "trained on negated,\nmeasured on adversarial points": ("negated", "adversarial"),
}


def draw(axes: Axes, rows: pd.DataFrame, setups: list[str]) -> None:
    """One panel: a marker per run, hollow where degenerate, and a line at each median."""
    for number, (family, look) in enumerate(colours.FAMILIES.items()):
        shift = 0.24 * (number - 1)
        for column, setup in enumerate(setups):
            runs = rows[(rows["family"] == family) & (rows["setup"] == setup)]
            if not len(runs):
                continue
            spread = np.linspace(-0.05, 0.05, len(runs)) if len(runs) > 1 else np.zeros(1)
            x = column + shift + spread
            for degenerate, fill in ((False, look.colour), (True, "none")):
                chosen = (runs["degenerate"] == degenerate).to_numpy()
                axes.plot(
                    x[chosen],
                    runs["accuracy"][chosen],
                    look.marker,
                    markerfacecolor=fill,
                    markeredgecolor=look.colour,
                )
            median, middle = runs["accuracy"].median(), column + shift
            axes.hlines(median, middle - 0.1, middle + 0.1, look.colour)
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(setups)), [TITLES[setup] for setup in setups])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def handles() -> list[Line2D]:
    """What the markers mean: families of models, degenerate runs and chance."""
    looks = [*colours.FAMILIES.values()]
    shown = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", label=look.name)
        for look in looks
    ]
    hollow = {"marker": "o", "ls": "", "markerfacecolor": "none", "color": colours.NEUTRAL}
    shown.append(Line2D([], [], label="degenerate run", **hollow))
    shown.append(Line2D([], [], label="median", color=colours.NEUTRAL, linewidth=1.2))
    chance = {"color": colours.BLACK, "linewidth": 0.8, "linestyle": ":"}
    return [*shown, Line2D([], [], label="chance", **chance)]


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
        width = figures.TWO_COLUMNS / max(3, len(parts))
        figure, axes = figures.panels(list(parts), width, 2.3, columns=4)
        for panel, rows in zip(axes, parts.values(), strict=True):
            draw(panel, rows, setups)
            panel.set_xlabel(f"Input ({rows['n'].max()} points)")
            panel.set_ylim(frame["accuracy"].min() - 0.03, frame["accuracy"].max() + 0.03)
        axes[0].set_ylabel("Accuracy")
        figure.legend(handles=handles(), loc="outside lower center", ncols=6)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
