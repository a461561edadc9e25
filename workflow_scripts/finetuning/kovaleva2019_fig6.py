"""Kovaleva et al. 2019, Figure 6: attention to [SEP] and [CLS] of the fine-tuned models."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROWS = {"sep": "[SEP]", "cls": "[CLS]"}


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task and token, the mean over seeds; darker means more attention."""
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
    high = max(grid.max() for grid in grids.values())
    shape = next(iter(grids.values())).shape
    with figures.style():
        figure, panels = heatmaps.sheet(
            list(ROWS.values()), [TASKS[name].title for name in names], shape
        )
        for axes, grid in zip(panels.ravel(), grids.values(), strict=True):
            image = heatmaps.draw(axes, grid, 0.0, high)
        figure.colorbar(image, ax=panels, label="Attention / length", pad=0.01, aspect=25)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
