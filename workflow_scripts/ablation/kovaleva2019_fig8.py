"""Kovaleva et al. 2019, Figure 8: the score with one head disabled, for every head and task."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects

LEVEL = 0.05


def beyond_chance(rows: pd.DataFrame) -> pd.DataFrame:
    """The heads whose effect has a corrected p-value below LEVEL with every seed."""
    largest = rows.groupby(["layer", "head"], as_index=False)["p_corrected"].max()
    return largest[largest["p_corrected"] < LEVEL]


def main(scores: list[Path], mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task, the change of the score in points, the mean over seeds."""
    frame = effects.main_rows(effects.read_scores(scores, "head"), mode)
    names = present(frame)
    with figures.style():
        titles = figures.task_titles(frame, names, effects.title_of)
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.5)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            image = heatmaps.around_zero(axes, 100 * heatmaps.grid_of(rows, "effect"))
            heatmaps.dots(axes, beyond_chance(rows))
            heatmaps.bar(image, [axes], "Change, points")
            axes.set(xlabel="Head", ylabel="Layer")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
