"""Published numbers next to ours, and the verdict on every claim."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow_scripts.claims.verdicts import VERDICTS
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

PERCENT = ("%", "UAS", "UUAS")  # what the units begin with that share an axis from 0 to 100
PANELS, ROW = 2.3, 0.135  # heights in inches


def main(verdicts: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw, for each paper, our numbers over the published ones, and a row per statement."""
    frame = pd.read_csv(verdicts)
    values, statements = (frame[frame["kind"] == kind] for kind in ("value", "statement"))
    papers = list(frame["paper"].unique())
    rows = ROW * (statements["id"].nunique() + statements["paper"].nunique()) + 0.7
    with figures.style():
        figure = Figure(figsize=(figures.TWO_COLUMNS, PANELS + rows), layout="constrained")
        upper, lower = figure.subfigures(2, 1, height_ratios=(PANELS, rows))
        panels = upper.subplots(1, len(papers), squeeze=False)[0]
        for axes, paper in zip(panels, papers, strict=True):
            _numbers(axes, values[values["paper"] == paper])
            axes.set_title(paper)
        panels[0].set_ylabel("Ours")
        _statements(lower.subplots(), statements)
        handles = [
            Line2D([], [], marker=look.marker, color=look.colour, ls="", label=look.name)
            for look in colours.VERDICTS.values()
        ]
        upper.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        figures.save(figure, svg, pdf, png)


def _numbers(axes: Axes, frame: pd.DataFrame) -> None:
    """Our number over the published one, in percent, with its interval."""
    axes.plot([0, 100], [0, 100], color=colours.GUIDE, lw=0.8, zorder=0)
    known = frame[frame["ours"].notna()]
    rows = known[known["unit"].str.startswith(PERCENT)]
    for verdict, part in rows.groupby("verdict"):
        ends = np.abs(part[["ci_low", "ci_high"]].to_numpy() - part[["ours"]].to_numpy()).T
        look = colours.VERDICTS[verdict]
        style = {"fmt": look.marker, "color": look.colour, "elinewidth": 0.6}
        axes.errorbar(part["paper_value"], part["ours"], yerr=np.nan_to_num(ends), **style)
    axes.set(xlim=(-2, 102), ylim=(-2, 102), xlabel=f"Published, {len(rows)} values in %")
    axes.set_xticks(range(0, 101, 25))
    axes.set_yticks(range(0, 101, 25))
    axes.set_aspect("equal")


def _statements(axes: Axes, frame: pd.DataFrame) -> None:
    """A row for each statement, by paper, with the number of cases under each verdict."""
    labels, row = {}, -1
    for paper, of_paper in frame.groupby("paper", sort=False):
        row += 1
        labels[row] = str(paper)
        for _, cases in of_paper.groupby("id", sort=False):
            row += 1
            labels[row] = cases["statement"].iloc[0]
            axes.axhline(row, color=colours.FAINT, linewidth=0.6, zorder=0)
            for verdict, count in cases["verdict"].value_counts().items():
                look, place = colours.VERDICTS[verdict], VERDICTS.index(str(verdict))
                axes.plot(place, row, look.marker, color=look.colour, markersize=4.5)
                if count > 1:
                    words = {"textcoords": "offset points", "size": figures.SMALL}
                    axes.annotate(str(count), (place, row), (5, -2.5), **words)
    axes.set_yticks(list(labels), list(labels.values()), fontsize=figures.SMALL)
    for label in axes.get_yticklabels():
        if label.get_text() in set(frame["paper"]):
            label.set_weight("bold")
    names = [colours.VERDICTS[name].name for name in VERDICTS]
    axes.set_xticks(range(len(VERDICTS)), names, rotation=40, ha="left", rotation_mode="anchor")
    axes.set(xlim=(-0.5, len(VERDICTS) - 0.4), ylim=(row + 0.5, -0.5))
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    axes.xaxis.tick_top()


if __name__ == "__main__":
    job.run(main, globals())
