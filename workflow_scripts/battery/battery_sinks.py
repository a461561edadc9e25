"""Attention to the first token in each layer, by weight and by norm (Gu et al. 2024)."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TITLES = {
    "text": "First token of the text",
    "start": "Start token instead",
    "random": "Random token instead",
}
LOOKS = {
    "attention": Look("mean of a layer", colours.BLUE),
    "by_norm": Look("mean of a layer", colours.GREEN),
}


def draw(frame: pd.DataFrame, threshold: float) -> Figure:
    """A column for each first token, a row for each measure, with a point for each head.

    `threshold` and uniform attention are of weights alone.
    """
    groups = [frame[frame["first"] == first] for first in TITLES]
    titles = [
        f"{title}\n{rows['has_role'].sum()} of {len(rows)} heads above {threshold:g}"
        for title, rows in zip(TITLES.values(), groups, strict=True)
    ]
    figure, panels = figures.new(figures.TWO_COLUMNS, 3.8, columns=3, rows=2)
    for number, axes in enumerate(panels):
        row, column = divmod(number, 3)
        measure, rows = list(LOOKS)[row], groups[column]
        figures.per_layer(axes, rows["layer"], rows[measure], LOOKS[measure])
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_ylim(-0.03, 1.05)
        if measure == "attention":
            axes.set_title(titles[column])
            line = {"color": colours.BLACK, "linewidth": 0.8}
            axes.axhline(threshold, linestyle=":", label=f"threshold, {threshold:g}", **line)
            uniform = frame["uniform"].iloc[0]
            axes.axhline(uniform, linestyle="--", label=f"uniform, {uniform:.2g}", **line)
        axes.label_outer()
    panels[0].set_ylabel("Weight on the\nfirst token")
    panels[3].set_ylabel("First token's share\nof the norm")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel(figures.sample(frame, "texts", "documents"), fontsize=7)
    return figure


def main(sinks: Path, svg: Out, pdf: Out, png: Out, threshold: float) -> None:
    """Draw a point per head for each first token and measure."""
    columns = ("layer", "head", "first", "has_role", "uniform", *LOOKS)
    frame = tables.read(sinks, columns)
    with figures.style():
        figures.save(draw(frame, threshold), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
