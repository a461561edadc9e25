"""Michel et al. 2019, Figure 2: do the same heads matter on other data?"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from workflow_scripts.ablation.measures import set_title
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

KINDS = ("datasets", "tasks", "halves")
LOOK = "Pearson's r below the diagonal, Spearman's ρ above it, with 95% intervals; bold: 0 excluded"
FRAMED = "Framed: r between two halves of one data set, and the range of 95% of the divisions"
ROOM = 5.3, 0.72  # inches for all columns of the matrix, and at most for one
WIDE = 0.62  # inches from which a column holds an interval in one line
PER_LINE, LINE = 4, 2.1  # scatter plots next to each other, and inches of their height
DARK = 0.6  # correlation from which text on its colour is white
# The first development set of each task, by the task's title.
FIRST_SETS = {task.title: set_title(name, "dev") for name, task in TASKS.items()}


def named(row: pd.Series) -> tuple[str, str]:
    """The two development sets of a pair (one of them for halves), each named with its task."""
    if row["kind"] == "tasks":
        return FIRST_SETS[row["one"]], FIRST_SETS[row["other"]]
    if row["kind"] == "halves":
        return row["one"], row["one"]
    return row["one"], f"{row['one'].split(' ')[0]} {row['other']}"


def data_sets(pairs: pd.DataFrame) -> list[str]:
    """All development sets of the pairs' columns `a` and `b`: by task, its first set first."""
    names = list(dict.fromkeys(pairs[["a", "b"]].to_numpy().ravel()))
    titles = {task.title: number for number, task in enumerate(TASKS.values())}
    firsts = FIRST_SETS.values()
    return sorted(names, key=lambda name: (titles[name.split(" ")[0]], name not in firsts))


def draw_matrix(axes: Axes, pairs: pd.DataFrame, width: float) -> None:
    """Both correlations of every pair with their intervals, the halves' on the diagonal.

    Pairs that were not compared stay white. `width` is that of a column, in inches.
    """
    names = data_sets(pairs)
    grid = np.full((len(names), len(names)), np.nan)
    for row in pairs.itertuples():
        one, other = sorted((names.index(row.a), names.index(row.b)))
        grid[other, one] = row.pearson
        _write(axes, other, one, (row.pearson, row.pearson_low, row.pearson_high), width)
        if one == other:
            corner = (one - 0.5, one - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, lw=1.2, zorder=3))
            continue
        grid[one, other] = row.spearman
        _write(axes, one, other, (row.spearman, row.spearman_low, row.spearman_high), width)
    image = axes.imshow(grid, cmap=colours.AROUND_ZERO, vmin=-1, vmax=1, aspect="auto")
    if width >= WIDE:
        axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    else:
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.grid(which="minor", color=colours.WHITE, linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="Correlation over heads", aspect=25, pad=0.01)


def _write(
    axes: Axes, row: int, column: int, found: tuple[float, float, float], width: float
) -> None:
    """A correlation and, below it, its interval, in one cell."""
    value, low, high = found
    if np.isnan(value):
        return
    ink = colours.WHITE if abs(value) > DARK else colours.BLACK
    bold = "bold" if low > 0 or high < 0 else "normal"
    axes.text(column, row - 0.02, _number(value), ha="center", va="bottom", color=ink, weight=bold)
    ends = f"{_number(low)} to{' ' if width >= WIDE else chr(10)}{_number(high)}"
    axes.text(
        column, row + 0.02, ends, ha="center", va="top", color=ink,
        size=figures.SMALL, linespacing=0.95,
    )  # fmt: skip


def _number(value: float) -> str:
    """Two decimals, with a minus sign, and without one before 0."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def draw_points(axes: Axes, points: pd.DataFrame, pair: pd.Series) -> None:
    """Every head's effect on the two sets of a pair; larger where several heads coincide.

    The head with the largest loss on both together is named.
    """
    x, y = (100 * points[name].to_numpy(dtype=float) for name in "xy")
    figures.same_scale(axes, np.stack([x, y]), least=1)
    positions, counts = np.unique(np.round(np.stack([x, y]), 9), axis=1, return_counts=True)
    axes.scatter(*positions, s=7 * counts, color=colours.NEUTRAL, alpha=0.7, linewidth=0, zorder=2)
    worst = int(np.argmin(x + y))
    name = label(points["layer"].iloc[worst], points["head"].iloc[worst])
    axes.annotate(name, (x[worst], y[worst]), (4, -2.5), textcoords="offset points", size=7)
    axes.set_title(f"r {_number(pair['pearson'])}, ρ {_number(pair['spearman'])}")
    axes.set(xlabel=pair["a"], ylabel=pair["b"])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))


def shown(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs that are plotted point by point: a task's first development set and another."""
    return pairs[(pairs["kind"] == "datasets") & pairs["a"].isin(FIRST_SETS.values())]


def draw(points: pd.DataFrame, pairs: pd.DataFrame) -> Figure:
    """The matrix above, a line of scatter plots below."""
    scatters, n = shown(pairs), len(data_sets(pairs))
    column = min(ROOM[1], ROOM[0] / n)
    lines = -(-len(scatters) // PER_LINE)
    heights = 0.75 + n * (0.36 if column >= WIDE else 0.46), LINE * lines
    figure = Figure(figsize=(figures.TWO_COLUMNS, sum(heights)), layout="constrained")
    above: Figure | SubFigure = figure
    if lines:
        above, below = figure.subfigures(2, 1, height_ratios=heights)
        cells = below.subplots(lines, min(PER_LINE, len(scatters)), squeeze=False).ravel()
        for axes in cells[len(scatters) :]:
            axes.remove()
        for axes, (_, pair) in zip(cells, scatters.iterrows(), strict=False):
            both = (points["one"] == pair["one"]) & (points["other"] == pair["other"])
            draw_points(axes, points[both], pair)
        heads = scatters["n"].iloc[0]
        below.suptitle(
            f"Effect of masking each of {heads} heads, in points; area: number of heads",
            fontsize=7,
        )
    axes = above.subplots()
    axes.set_title(f"{LOOK}.\n{FRAMED}.", fontsize=7)
    draw_matrix(axes, pairs, column)
    return figure


def main(points: Path, table: Path, mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the correlations of all pairs, and the points of those within one task."""
    frame = tables.read(points, ("kind", "mode", "one", "other", "layer", "head", "x", "y"))
    pairs = tables.read_csv(table)
    pairs = pairs[(pairs["mode"] == mode) & pairs["kind"].isin(KINDS)]
    sets = [named(row) for _, row in pairs.iterrows()]
    pairs = pairs.assign(a=[one for one, _ in sets], b=[other for _, other in sets])
    frame = frame[(frame["mode"] == mode) & (frame["kind"] == "datasets")]
    with figures.style():
        figures.save(draw(frame, pairs), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
