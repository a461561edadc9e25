"""Kovaleva et al. 2019, Figure 8: the score with one head disabled, for every head and task."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.randomisation import LEVEL


def significant(rows: pd.DataFrame) -> np.ndarray:
    """Where a head's corrected p-value is below LEVEL with every seed, [layer, head]."""
    largest = rows.groupby(["layer", "head"], as_index=False)["p_corrected"].max()
    return heatmaps.grid_of(largest, "p_corrected") < LEVEL


def in_table1(metrics: pd.DataFrame, task: str, n: int) -> str:
    """A line on the unchanged model's score in Table 1, where it is of more examples than `n`."""
    wanted = {"stage": "fine-tuned", "split": "dev", "task": TASKS[task].title}
    wanted |= {"metric": TASKS[task].main_metric}
    rows = metrics[(metrics[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    if (rows["n"] == n).all():
        return ""
    return f"\n(Table 1: {100 * rows['value'].mean():.1f}, n = {rows['n'].max()})"


def draw(frame: pd.DataFrame, metrics: pd.DataFrame) -> Figure:
    """A map for each task, all on one scale that is symmetric around 0."""
    names = present(frame)
    titles = figures.task_titles(frame, names, effects.title_of)
    counts = [int(frame.loc[frame["task"] == name, "n"].max()) for name in names]
    more = [in_table1(metrics, name, n) for name, n in zip(names, counts, strict=True)]
    titles = [title + line for title, line in zip(titles, more, strict=True)]
    grids = [100 * heatmaps.grid_of(frame[frame["task"] == name], "effect") for name in names]
    limit = max(np.nanmax(np.abs(grid)) for grid in grids)
    height = 1.75 if any(more) else 1.6
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height)
    figure.set_figheight(figure.get_figheight() + 0.75)  # for the colour bar and the legend
    for axes, name, grid in zip(panels, names, grids, strict=True):
        image = heatmaps.around_zero(axes, grid, limit)
        heatmaps.mute(axes, image, ~significant(frame[frame["task"] == name]))
        axes.set(xlabel="Head", ylabel="Layer")
        axes.title.set_fontsize(7)
    heatmaps.bar(image, panels, "Change of the score, points", shrink=0.35, below=True)
    words = f"not significant: p ≥ {LEVEL}, corrected for {grids[0].size} heads"
    figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
    return figure


def main(scores: list[Path], metrics: list[Path], mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task, the change of the score in points, the mean over seeds.

    `metrics` are the classifiers' scores on all development examples.
    """
    frame = effects.main_rows(effects.read_scores(scores, "head"), mode)
    whole = pd.concat([tables.read_csv(path) for path in metrics], ignore_index=True)
    with figures.style():
        figures.save(draw(frame, whole), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
