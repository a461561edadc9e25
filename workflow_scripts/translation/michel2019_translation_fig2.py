"""Michel et al. 2019, Figure 2a: do the same heads matter on other sentences?"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation.masked_heads import by_run

COLUMNS = ("run", "mode", "metric", "type", "layer", "head", "one", "other", "x", "y")
SPLITS = ["validation", "test"]


def shown(points: pd.DataFrame) -> pd.DataFrame:
    """Effects of zero gates on BLEU, on validation and test set, or on test set and domain."""
    points = points[(points["mode"] == "zero") & (points["metric"] == "bleu")]
    first = (points["one"] == SPLITS[0]) & (points["other"] == SPLITS[1])
    return points[first | (points["one"] == SPLITS[1])]


def about(pairs: pd.DataFrame, run: str, one: str, other: str) -> str:
    """Pearson's correlation with its interval, and that between halves of the second split."""
    pairs = pairs[(pairs["mode"] == "zero") & (pairs["metric"] == "bleu")]
    pairs = pairs[(pairs["run"] == run) & (pairs["type"] == "all")]
    row = pairs[(pairs["one"] == one) & (pairs["other"] == other)].iloc[0]
    halves = pairs[(pairs["kind"] == "halves") & (pairs["one"] == other)].iloc[0]
    words = f"r {row['pearson']:.2f} ({row['pearson_low']:.2f} to {row['pearson_high']:.2f})"
    return f"{words}\nbetween halves of {other}: {halves['pearson']:.2f}".replace("-", "−")


def draw_points(axes: Axes, points: pd.DataFrame) -> None:
    """Every head's effect on both splits, by type; the one with the largest loss is named."""
    figures.same_scale(axes, points[["x", "y"]].to_numpy(), least=0.1)
    for kind, look in colours.ATTENTION.items():
        rows = points[points["type"] == kind]
        axes.plot(
            rows["x"], rows["y"], ls="", color=look.colour, marker=look.marker, alpha=0.75,
            markeredgewidth=0, label=look.name, zorder=2,
        )  # fmt: skip
    worst = points.loc[points[["x", "y"]].sum(axis=1).idxmin()]
    name = f"{colours.ATTENTION[worst['type']].name} {label(worst['layer'], worst['head'])}"
    axes.annotate(name, (worst["x"], worst["y"]), (4, -2), textcoords="offset points", size=7)
    for axis, split in ((axes.xaxis, "one"), (axes.yaxis, "other")):
        axis.set_label_text(f"{points[split].iloc[0]}, n = {points[f'n_{split}'].iloc[0]}")
        axis.set_major_locator(MaxNLocator(5))


def draw(points: pd.DataFrame, pairs: pd.DataFrame) -> Figure:
    """A panel for every run and pair of splits."""
    groups, titles = [], []
    for name, rows in by_run(shown(points)):
        for (one, other), group in rows.groupby(["one", "other"], sort=False):
            groups.append(group)
            titles.append(f"{name}: {about(pairs, group['run'].iloc[0], one, other)}")
    width = figures.TWO_COLUMNS / min(3, max(2, len(titles)))  # inches, and the height
    figure, panels = figures.panels(titles, width, width)
    for axes, group in zip(panels, groups, strict=True):
        draw_points(axes, group)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), columnspacing=1.2)
    figure.supxlabel("Change of BLEU with one head masked", fontsize=8)
    return figure


def main(points: Path, pairs: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the effects of masking each head on two splits."""
    frame = tables.read(points, COLUMNS)
    table = tables.read_csv(pairs, dtype={"run": str})
    with figures.style():
        figures.save(draw(frame, table), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
