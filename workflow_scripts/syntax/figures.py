"""Clark et al. 2019, Figure 5: heads that find a relation, on example sentences."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import attention_lines, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

PANELS_IN_A_ROW = 4


def _panels(frame: pd.DataFrame) -> list[pd.DataFrame]:
    return [panel for _, panel in frame.groupby("drawing")]


def clark2019_fig5(
    examples: Path, svg: Out, pdf: Out, png: Out, coreference: Path | None = None
) -> None:
    """Draw one panel per relation and sentence, and per passage with coreferent mentions.

    The words that attend are in colour. Of a passage, only what its mentions attend to is drawn,
    with an opacity of the weight's square root: such a head gives much to [CLS], and little each to
    many words.
    """
    needed = (*attention_lines.COLUMNS, "highlighted")
    panels = [(panel, {}) for panel in _panels(tables.read(examples, needed))]
    if coreference:
        frame = tables.read(coreference, needed)
        only = frame.assign(weight=frame["weight"].where(frame["highlighted"], 0.0))
        panels += [(panel, {"power": 0.5}) for panel in _panels(only)]
    columns = min(PANELS_IN_A_ROW, len(panels))
    n_rows = -(-len(panels) // columns)
    with figures.style():
        height = 0.5 + 0.13 * (max(panel["query"].max() for panel, _ in panels) + 1)
        figure, axes = figures.new(
            attention_lines.WIDTH * columns, height * n_rows, columns=columns, rows=n_rows
        )
        for panel_axes, (panel, options) in zip(axes, panels, strict=False):
            attention_lines.draw_panel(panel_axes, panel, **options)
        for unused in axes[len(panels) :]:
            unused.axis("off")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
