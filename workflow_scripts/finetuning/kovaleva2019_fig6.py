"""Kovaleva et al. 2019, Figure 6: attention to [SEP] and [CLS] of the fine-tuned models."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROWS = {"sep": "[SEP]", "cls": "[CLS]"}


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task and token, the mean over seeds, all on one scale from 0.

    Darker means more attention.
    """
    columns = ("layer", "head", "kind", "attention", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "all")]
    names = present(frame)
    grids = {
        (kind, name): heatmaps.grid_of(
            frame[(frame["kind"] == kind) & (frame["task"] == name)], "attention"
        )
        for kind in ROWS
        for name in names
    }
    shape = next(iter(grids.values())).shape
    largest = {kind: max(grids[kind, name].max() for name in names) for kind in ROWS}
    top = max(largest.values())
    rows = [f"{ROWS[kind]}, max {largest[kind]:.2f}" for kind in ROWS]
    with figures.style():
        figure, panels = heatmaps.sheet(rows, [TASKS[name].title for name in names], shape)
        for cells, kind in zip(panels, ROWS, strict=True):
            for axes, name in zip(cells, names, strict=True):
                image = heatmaps.draw(axes, grids[kind, name], 0.0, top)
        heatmaps.bar(image, list(panels.ravel()), "Attention / length", shrink=0.7)
        over = figures.sample(frame[frame["kind"].isin(ROWS)], "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
