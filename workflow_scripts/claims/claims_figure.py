"""Published numbers beside ours, and the verdict on every claim."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.claims.verdicts import VERDICTS
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

PERCENT = ("%", "UAS", "UUAS")  # what the units begin with that share an axis from 0 to 100
GREEN, BLUE, RED = figures.COLOURS[2], figures.COLOURS[0], figures.COLOURS[1]
SHADES = dict(zip(VERDICTS, (GREEN, BLUE, RED, "0.35", "0.6", "0.8"), strict=True))
MARKERS = dict(zip(VERDICTS, "os^Dvx", strict=True))
PANELS, ROW = 2.3, 0.14  # heights in inches


def main(verdicts: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw, for each paper, our numbers over the published ones, and a row per statement."""
    frame = pd.read_csv(verdicts)
    values, statements = (frame[frame["kind"] == kind] for kind in ("value", "statement"))
    papers = list(frame["paper"].unique())
    rows = ROW * statements["id"].nunique() + 0.5
    with figures.style():
        figure = Figure(figsize=(figures.TWO_COLUMNS, PANELS + rows), layout="constrained")
        upper, lower = figure.subfigures(2, 1, height_ratios=(PANELS, rows))
        panels = upper.subplots(1, len(papers), squeeze=False)[0]
        for axes, paper in zip(panels, papers, strict=True):
            _numbers(axes, values[values["paper"] == paper])
            axes.set_title(paper)
        _statements(lower.subplots(), statements)
        handles = [
            Line2D([], [], marker=MARKERS[name], color=SHADES[name], ls="", label=name)
            for name in VERDICTS
        ]
        upper.legend(handles=handles, loc="outside lower center", ncols=len(VERDICTS))
        figures.save(figure, svg, pdf, png)


def _numbers(axes: Axes, frame: pd.DataFrame) -> None:
    """Our number over the published one, in percent, with its interval."""
    axes.plot([0, 100], [0, 100], color="0.8", lw=0.8, zorder=0)
    rows = frame[frame["unit"].str.startswith(PERCENT) & frame["ours"].notna()]
    for verdict, part in rows.groupby("verdict"):
        ends = np.abs(part[["ci_low", "ci_high"]].to_numpy() - part[["ours"]].to_numpy()).T
        style = {"fmt": MARKERS[verdict], "color": SHADES[verdict], "elinewidth": 0.6}
        axes.errorbar(part["paper_value"], part["ours"], yerr=np.nan_to_num(ends), **style)
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="Published", ylabel="Ours")
    axes.set_aspect("equal")


def _statements(axes: Axes, frame: pd.DataFrame) -> None:
    """A row for each statement, with the number of cases under each verdict."""
    names = list(dict.fromkeys(frame["id"]))
    for row, name in enumerate(names):
        for verdict, count in frame[frame["id"] == name]["verdict"].value_counts().items():
            place = VERDICTS.index(str(verdict)), row
            axes.plot(*place, MARKERS[verdict], color=SHADES[verdict], markersize=5)
            if count > 1:
                axes.annotate(str(count), place, (5, -2.5), textcoords="offset points", size=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_xticks(range(len(VERDICTS)), VERDICTS)
    axes.set(xlim=(-0.5, len(VERDICTS) - 0.5), ylim=(len(names) - 0.5, -0.5))
    axes.grid(axis="y", color="0.92", zorder=0)
    axes.xaxis.tick_top()


if __name__ == "__main__":
    job.run(main, globals())
