"""Clark et al. 2019, Figure 1: lines from each token to those that a head attends to."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core import figures, job, tables
from workflow_scripts.core.heads import label
from workflow_scripts.core.job import Out

LEFT, RIGHT = 0.0, 1.0


def draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One head: queries on the left, keys on the right, darker lines for larger weights."""
    first = rows.iloc[0]
    for row in rows[rows["weight"] > 0.02].itertuples():
        colour, alpha = figures.COLOURS[0], min(1.0, float(row.weight))
        axes.plot([LEFT, RIGHT], [-row.query, -row.key], color=colour, alpha=alpha, linewidth=0.9)
    diagonal = rows[rows["query"] == rows["key"]]
    for row in diagonal.itertuples():
        for place, token, side in [
            (LEFT - 0.06, row.query_token, "right"),
            (RIGHT + 0.06, row.key_token, "left"),
        ]:
            text = axes.text(place, -row.query, _plain(token), ha=side, va="center", fontsize=7)
            text.set_in_layout(False)  # the panels keep their width whatever the words
    title = f"Head {label(first['layer'], first['head'])}"
    axes.set_title(f"{title}\n{first['title']}" if first["title"] else title)
    axes.set_xlim(-1.35, 2.35)
    axes.set_ylim(-len(diagonal) + 0.4, 0.6)
    axes.axis("off")


def _plain(token: str) -> str:
    """A dollar sign would start a formula."""
    return token.replace("$", r"\$")


def main(drawings: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw one panel per head."""
    rows = tables.read(drawings, ("drawing", "layer", "head", "query", "key", "weight"))
    panels = [panel for _, panel in rows.groupby("drawing")]
    with figures.style():
        height = 0.5 + 0.115 * (rows["query"].max() + 1)
        figure, axes = figures.new(2.0 * len(panels), height, columns=len(panels))
        for place, panel in zip(axes, panels, strict=True):
            draw_panel(place, panel)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
