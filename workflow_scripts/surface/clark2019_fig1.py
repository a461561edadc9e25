"""Clark et al. 2019, Figure 1: lines from each token to those that a head attends to."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import attention_lines, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(drawings: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw one panel per head."""
    rows = tables.read(drawings, attention_lines.COLUMNS)
    panels = [panel for _, panel in rows.groupby("drawing")]
    with figures.style():
        height = 0.5 + 0.115 * (rows["query"].max() + 1)
        figure, axes = figures.new(2.0 * len(panels), height, columns=len(panels))
        for panel_axes, panel in zip(axes, panels, strict=True):
            attention_lines.draw_panel(panel_axes, panel)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
