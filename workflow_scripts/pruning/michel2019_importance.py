"""Importance of every head on every task (Michel et al. 2019, section 4.1)."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

COLUMNS = ("layer", "head", "variant", "importance", "normalised", "task", "seed")


def main(importance: list[Path], variant: str, svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw a heat map per task, normalised by layer, and write all values; darker means more."""
    frame = tables.read_all(importance, COLUMNS)
    shown = frame[frame["variant"] == variant]
    names = present(shown)
    grids = [heatmaps.grid_of(shown[shown["task"] == name], "normalised") for name in names]
    with figures.style():
        titles = [TASKS[name].title for name in names]
        figure, panels = heatmaps.sheet([""], titles, grids[0].shape)
        for axes, grid in zip(panels[0], grids, strict=True):
            image = heatmaps.draw(axes, grid, 0.0, max(each.max() for each in grids))
        heatmaps.bar(image, panels[0], "Importance / layer's norm")
        over = figures.sample(shown, "training examples of each task")
        figure.supxlabel(f"divided by the l2 norm of the layer's heads; {over}", fontsize=7)
        figures.save(figure, svg, pdf, png)
    frame = frame.assign(head=labels(frame), task=[TASKS[task].title for task in frame["task"]])
    columns = ["task", "seed", "variant", "head"]
    columns += ["importance", "ci_low", "ci_high", "normalised", "n"]
    order = {"task": True, "seed": True, "variant": True, "normalised": False}
    frame = frame.sort_values(list(order), ascending=list(order.values()))
    tables.write_csv(frame[columns], table)


if __name__ == "__main__":
    job.run(main, globals())
