"""Clark et al. 2019, Figure 1: lines from each token to those that a head attends to."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import attention_lines, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

POWER = 0.5  # a line's opacity is the root of its weight: 1/128 is seen, and 1 is no darker
LEAST = 0.5  # smaller weights, relative to uniform attention, are not drawn


def not_drawn(table: pd.DataFrame) -> str:
    """A line that names the patterns that no head shows, each with its strongest head."""
    parts = []
    for row in table[~table["shown"]].itertuples():
        strength = f"{row.strength:.1f} nats" if row.unit == "nats" else f"{row.strength:.0%}"
        parts.append(f"{row.pattern} (at most {strength}, head {row.head})")
    return f"Shown by no head: {', '.join(parts)}" if parts else ""


def main(drawings: Path, table: Path, svg: Out, pdf: Out, png: Out, by_hand: bool = False) -> None:
    """Draw one panel per head; below, the patterns that no head shows.

    Heads that are chosen `by_hand` stand for no pattern.
    """
    rows = tables.read(drawings, (*attention_lines.COLUMNS, "uniform"))
    note = "" if by_hand else not_drawn(tables.read_csv(table))
    panels = [panel for _, panel in rows.groupby("drawing")]
    with figures.style():
        longest = 0 if rows.empty else rows["query"].max() + 1
        height = 0.7 + 0.115 * longest
        columns = max(1, len(panels))
        figure, axes = figures.new(
            min(figures.TWO_COLUMNS, attention_lines.WIDTH * max(2, columns)),
            height,
            columns=columns,
        )
        for panel_axes in axes[len(panels) :]:
            panel_axes.axis("off")
        for panel_axes, panel in zip(axes, panels, strict=False):
            least = LEAST * panel["uniform"]
            attention_lines.draw_panel(panel_axes, panel, least, POWER)
        figure.supxlabel(note, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
