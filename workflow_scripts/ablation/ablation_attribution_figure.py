"""The exact effect of disabling each head over its attribution."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.ablation.ablation_attribution import IMPORTANCE
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def draw(heads: pd.DataFrame) -> Figure:
    """A row of panels per task, a panel per estimate; a point per head and seed."""
    tasks, estimates = (list(dict.fromkeys(heads[name])) for name in ("task", "estimate"))
    estimates = sorted(estimates, key=lambda name: name == IMPORTANCE)
    titles = [
        f"{TASKS[task].title if task in TASKS else 'Running text'}, {name}"
        for task in tasks
        for name in estimates
    ]
    columns = len(estimates)
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / columns, 1.4, columns=columns)
    cells = [(task, name) for task in tasks for name in estimates]
    for axes, (task, name) in zip(panels, cells, strict=True):
        rows = heads[(heads["task"] == task) & (heads["estimate"] == name)]
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        low, high = rows["attribution"].min(), rows["attribution"].max()
        if name != IMPORTANCE:  # the estimate equals the effect on this line
            axes.plot([low, high], [low, high], color=colours.GUIDE, linewidth=0.6, zorder=1)
        first = rows["screen"] == "first"
        for chosen, colour in ((~first, colours.GREY), (first, colours.BLACK)):
            points = rows[chosen]
            style = {"color": colour, "s": 5, "linewidths": 0, "zorder": 2}
            label = "first by the estimate" if colour == colours.BLACK else "other heads"
            axes.scatter(points["attribution"], points["effect"], label=label, **style)
        axes.set_title(f"{axes.get_title()}\nρ {rows.groupby('seed')['rho'].first().mean():.2f}")
        axes.locator_params(nbins=4)
    for axes in panels[::columns]:
        axes.set_ylabel("effect on the loss")
    for axes in panels[-columns:]:
        axes.set_xlabel("estimate")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def main(heads: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw every estimate of every task."""
    with figures.style():
        figures.save(draw(tables.read_csv(heads)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
