"""Kovaleva et al. 2019, Figure 5: similarity of each head's maps before and after fine-tuning."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(similarity: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task, the mean over seeds; darker means a greater change."""
    columns = ("layer", "head", "task", "similarity")
    frame = tables.read_all(similarity, columns)
    names = present(frame)
    grids = [heatmaps.grid_of(frame[frame["task"] == name], "similarity") for name in names]
    low = min(grid.min() for grid in grids)
    titles = [TASKS[name].title for name in names]
    with figures.style():
        figure, panels = heatmaps.sheet([""], titles, grids[0].shape)
        for axes, grid in zip(panels[0], grids, strict=True):
            image = heatmaps.draw(axes, grid, low, 1.0, heatmaps.DARK + "_r")
        figure.colorbar(image, ax=panels, label="Cosine similarity", pad=0.01, aspect=12)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
