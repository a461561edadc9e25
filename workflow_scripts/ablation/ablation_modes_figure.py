"""How well the effects of heads agree between ways of disabling them, for every two of them."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

MARKS = {"loss": ("o", "loss"), "score": ("s", "score")}


def draw(frame: pd.DataFrame) -> Figure:
    """A panel per task: Spearman's rho of each two modes with its interval; seeds one by one."""
    tasks = list(dict.fromkeys(frame["task"]))
    titles = [TASKS[task].title if task in TASKS else "Running text" for task in tasks]
    names = list(dict.fromkeys(zip(frame["one"], frame["other"], strict=True)))
    height = 0.7 + 0.19 * len(names)
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
    figure.set_figheight(figure.get_figheight() + 0.3)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axvline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        for at, (of, rows) in enumerate(frame[frame["task"] == task].groupby("of", sort=False)):
            rows = rows.dropna(subset=["rho"])
            place = {pair: number for number, pair in enumerate(names)}
            pairs = zip(rows["one"], rows["other"], strict=True)
            y = np.array([place[pair] for pair in pairs]) + 0.26 * at - 0.13
            ends = np.array([rows["rho"] - rows["rho_low"], rows["rho_high"] - rows["rho"]])
            marker, label = MARKS[str(of)]
            colour = (colours.BLACK, colours.GREY)[at]
            style = {"fmt": marker, "color": colour, "markersize": 3, "capsize": 1.5}
            axes.errorbar(rows["rho"], y, xerr=ends, label=label, zorder=2, **style)
        axes.set(xlim=(-1, 1.02), ylim=(len(names) - 0.5, -0.5), xlabel="Spearman's ρ over heads")
        axes.set_yticks(range(len(names)), [f"{one}, {other}" for one, other in names])
    for axes in panels[1:3]:
        axes.set_yticklabels([])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, title="effect on", loc="outside lower center", ncols=2)
    return figure


def main(table: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the correlations of all pairs of modes."""
    with figures.style():
        figures.save(draw(tables.read_csv(table)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
