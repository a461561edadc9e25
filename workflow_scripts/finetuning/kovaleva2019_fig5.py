"""Kovaleva et al. 2019, Figure 5: similarity of each head's maps before and after fine-tuning."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROWS = {"similarity": "Real tokens", "padded": "Padded"}


def main(similarity: list[Path], padded: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task, the mean over seeds; darker means a greater change.

    With similarities of `padded` maps a second row, in colours of its own.
    """
    columns = ("layer", "head", "task", "similarity")
    frames = {"similarity": tables.read_all(similarity, columns)}
    if padded:
        frames["padded"] = tables.read_all(padded, columns)
    names = present(frames["similarity"])
    titles = [TASKS[name].title for name in names]
    grids = {
        row: [heatmaps.grid_of(frame[frame["task"] == name], "similarity") for name in names]
        for row, frame in frames.items()
    }
    with figures.style():
        rows = [ROWS[row] for row in grids] if padded else [""]
        figure, panels = heatmaps.sheet(rows, titles, grids["similarity"][0].shape)
        for cells, of_row in zip(panels, grids.values(), strict=True):
            low = min(grid.min() for grid in of_row)
            for axes, grid in zip(cells, of_row, strict=True):
                image = heatmaps.draw(axes, grid, low, 1.0, colours.MORE + "_r")
            heatmaps.bar(image, cells, "Cosine similarity")
        over = figures.sample(frames["similarity"], "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
