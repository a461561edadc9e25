"""Kovaleva et al. 2019, section 5: heads that attend to words which both sentences share."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.stages import STAGES, top_heads

GROUPS = ["task", "stage", "measure"]
COLUMNS = ["attention", "others", "excess", "ci_low", "ci_high", "n"]


def main(shared: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw the excess for each task and stage, the mean over seeds, and print the strongest heads.

    The figure has the measure `copy`, the table both.
    """
    columns = (*GROUPS, "layer", "head", "attention", "others", "excess", "n")
    frame = tables.read_all(shared, columns)
    top = top_heads(frame, GROUPS, "excess", COLUMNS)
    titles = {name: task.title for name, task in TASKS.items()}
    tables.write_csv(top.assign(task=top["task"].map(titles)), table)
    frame = frame[frame["measure"] == "copy"].dropna(subset="excess")
    names = present(frame)
    grids = {
        (stage, name): heatmaps.grid_of(
            frame[(frame["stage"] == stage) & (frame["task"] == name)], "excess"
        )
        for stage in STAGES
        for name in names
    }
    largest = max(np.abs(grid).max() for grid in grids.values())
    shape = next(iter(grids.values())).shape
    with figures.style():
        rows = [stage.capitalize() for stage in STAGES]
        figure, panels = heatmaps.sheet(rows, [titles[name] for name in names], shape)
        for axes, grid in zip(panels.ravel(), grids.values(), strict=True):
            image = heatmaps.around_zero(axes, grid, largest)
        heatmaps.bar(image, panels.ravel(), "Attention to copies minus others")
        over = figures.sample(frame, "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
