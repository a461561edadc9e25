"""Do the linguistic heads matter (Kovaleva et al. 2019, section 5)? Effects by what heads do."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.ablation.head_behaviour import FEWEST_HEADS, STRATA
from workflow_scripts.ablation.measures import of_kind
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects

MEANING = f"mean of a kind with {FEWEST_HEADS} heads or more, 95% interval over its heads"
POINT = {"linestyle": "", "marker": "o", "markeredgecolor": colours.GREY, "markeredgewidth": 0.3}
MEAN = {"fmt": "D", "color": colours.BLACK, "markersize": 3.5, "capsize": 2}


def draw_kind(axes: Axes, x: float, values: np.ndarray, means: pd.Series, colour: str) -> None:
    """The effects of a kind's heads, in points, and their mean with an interval."""
    rng = np.random.default_rng(0)  # of the jitter that keeps points from hiding each other
    jittered = x + rng.uniform(-0.22, 0.22, len(values))
    axes.plot(jittered, values, color=colour, zorder=2, **POINT)
    if len(values) < FEWEST_HEADS:
        return
    ends = [[means["effect"] - means["ci_low"]], [means["ci_high"] - means["effect"]]]
    axes.errorbar(x, 100 * means["effect"], 100 * np.array(ends), zorder=3, **MEAN)


def draw(heads: pd.DataFrame, strata: pd.DataFrame) -> Figure:
    """A panel per task: a point per head over each of its kinds."""
    tasks = list(dict.fromkeys(strata["task"]))
    members = {name: of_kind(heads, name) for name in STRATA}
    shown = [name for name in STRATA if members[name].any()]
    titles = [effects.title_of(name) for name in tasks]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        of_task = strata[strata["task"] == task].set_index("stratum")
        for column, name in enumerate(shown):
            values = 100 * heads.loc[members[name], f"effect_{task}"].to_numpy()
            draw_kind(axes, column, values, of_task.loc[name], colours.HEADS[name].colour)
        ticks = [f"{name} ({members[name].sum()})" for name in shown]
        axes.set_xticks(range(len(shown)), ticks, rotation=35, ha="right")
    panels[0].set_ylabel("Change, points")
    keys = [
        Line2D([], [], color=colours.WHITE, label="one head, in each of its kinds", **POINT),
        Line2D([], [], color=colours.BLACK, marker="D", markersize=3.5, label=MEANING),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=2)
    return figure


def main(heads: Path, strata: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the effect of disabling each head, by the kinds of heads."""
    with figures.style():
        figures.save(draw(tables.read_csv(heads), tables.read_csv(strata)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
