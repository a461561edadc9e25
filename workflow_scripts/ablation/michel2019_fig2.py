"""Michel et al. 2019, Figure 2: a head's effect on one data set against its effect on another."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

SIZE = 1.7  # inches
KINDS = ("datasets", "tasks")


def main(points: Path, table: Path, mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a scatter plot for every pair of data sets and of tasks, with both correlations."""
    frame = tables.read(points, ("kind", "mode", "one", "other", "x", "y"))
    correlations = pd.read_csv(table)
    frame, correlations = (
        rows[(rows["mode"] == mode) & rows["kind"].isin(KINDS)] for rows in (frame, correlations)
    )
    with figures.style():
        titles = [
            f"{row.one},\n{row.other}\nr {row.pearson:.2f}, ρ {row.spearman:.2f}"
            for row in correlations.itertuples()
        ]
        figure, panels = figures.panels(titles, SIZE, SIZE + 0.15, columns=5)
        for axes, row in zip(panels, correlations.itertuples(), strict=True):
            rows = frame[(frame["one"] == row.one) & (frame["other"] == row.other)]
            x, y = (100 * rows[name].to_numpy(dtype=float) for name in "xy")
            for line in (axes.axhline, axes.axvline):
                line(0, color="#BBBBBB", linewidth=0.6, zorder=1)
            axes.plot(x, y, "o", color=figures.COLOURS[0], alpha=0.5, markeredgewidth=0, zorder=2)
            ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
            axes.set_xlim(ends + np.array([-0.06, 0.06]) * max(np.ptp(ends), 1))
            axes.set_ylim(axes.get_xlim())
        figure.supxlabel("Effect on the first, points", fontsize=8)
        figure.supylabel("Effect on the second, points", fontsize=8)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
