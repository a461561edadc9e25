"""Kovaleva et al. 2019, Figure 2: shares of the classes of maps, task by task."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.pattern_rules import CLASSES

WIDTH = 0.38
STAGES = ("pretrained", "fine-tuned")


def legend_title(frame: pd.DataFrame, model: str) -> str:
    """For another model than the annotated one, that it is another; else nothing."""
    annotated = frame["annotated_model"].iloc[0]
    if model in annotated.split(","):
        return ""
    return f"maps of {model}, classified by\na network of {annotated}'s maps"


def main(shares: Path, svg: Out, pdf: Out, png: Out, model: str) -> None:
    """Draw two stacked bars per task: pretrained (hatched) and fine-tuned, the mean over seeds."""
    frame = tables.read(shares, ("class", "share", "task", "stage", "method", "annotated_model"))
    frame = frame[frame["method"] == "network"]
    mean = frame.groupby(["task", "stage", "class"])["share"].mean()
    names = present(frame)
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
        axes.set_ylabel("Share of maps, %")
        axes.set_ylim(0, 100)
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
    job.run(main, globals())
