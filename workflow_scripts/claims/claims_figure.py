"""Published numbers next to ours, and the verdict on every claim."""

from pathlib import Path
from textwrap import wrap

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
PANELS, LINE, GAP = 2.6, 0.1, 0.04  # inches: the panels with legend, a line of text, between rows
NAMES = 0.9  # inches: the names of the verdicts
WIDTH = 88  # characters of a line; the longest statements have some 170


def main(verdicts: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw, for each paper, our numbers over the published ones, and a row per statement."""
    frame = pd.read_csv(verdicts)
    values, statements = (frame[frame["kind"] == kind] for kind in ("value", "statement"))
    papers = list(frame["paper"].unique())
    labels = _labels(statements)
    rows = NAMES + sum(map(_height, labels))
    with figures.style():
        figure = Figure(figsize=(figures.TWO_COLUMNS, PANELS + rows), layout="constrained")
        upper, lower = figure.subfigures(2, 1, height_ratios=(PANELS, rows))
        panels = upper.subplots(1, len(papers), squeeze=False)[0]
        for axes, paper in zip(panels, papers, strict=True):
            _numbers(axes, values[values["paper"] == paper])
            axes.set_title(paper)
        panels[0].set_ylabel("Ours")
        _statements(lower.subplots(), statements, labels)
        handles = [
            Line2D([], [], marker=look.marker, color=look.colour, ls="", label=look.name)
            for look in colours.VERDICTS.values()
        ]
        upper.legend(handles=handles, loc="outside lower center", ncols=4)
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


def _labels(frame: pd.DataFrame) -> list[str]:
    """What stands next to each row: a paper's name, and below it its statements."""
    labels = []
    for paper, of_paper in frame.groupby("paper", sort=False):
        statements = of_paper.drop_duplicates("id")["statement"]
        labels += [str(paper), *("\n".join(wrap(words, WIDTH)) for words in statements)]
    return labels


def _height(label: str) -> float:
    """Inches of a row: its lines of text and the gap to the next row."""
    return LINE * (label.count("\n") + 1) + GAP


def _statements(axes: Axes, frame: pd.DataFrame, labels: list[str]) -> None:
    """A row for each label; of a statement the number of cases under each verdict."""
    heights = np.array([_height(label) for label in labels])
    centres = heights.cumsum() - heights / 2
    axes.set_yticks(centres, labels, fontsize=figures.SMALL)
    papers = set(frame["paper"])
    for text in axes.get_yticklabels():
        if text.get_text() in papers:
            text.set_weight("bold")
    rows = [row for row, label in zip(centres, labels, strict=True) if label not in papers]
    by_paper = [part for _, part in frame.groupby("paper", sort=False)]
    by_claim = [cases for part in by_paper for _, cases in part.groupby("id", sort=False)]
    for row, cases in zip(rows, by_claim, strict=True):
        axes.axhline(row, color=colours.FAINT, linewidth=0.6, zorder=0)
        for verdict, count in cases["verdict"].value_counts().items():
            look, place = colours.VERDICTS[verdict], VERDICTS.index(str(verdict))
            axes.plot(place, row, look.marker, color=look.colour, markersize=4.5)
            if count > 1:
                words = {"textcoords": "offset points", "size": figures.SMALL}
                axes.annotate(str(count), (place, row), (5, -2.5), **words)
    names = [colours.VERDICTS[name].name for name in VERDICTS]
    axes.set_xticks(range(len(VERDICTS)), names, rotation=40, ha="left", rotation_mode="anchor")
    axes.set(xlim=(-0.5, len(VERDICTS) - 0.4), ylim=(heights.sum(), 0))
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    axes.xaxis.tick_top()


if __name__ == "__main__":
    job.run(main, globals())
