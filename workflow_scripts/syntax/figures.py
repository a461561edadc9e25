"""Clark et al. 2019, Figure 5: heads that find a relation, on example sentences."""

from pathlib import Path

from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import attention_lines, figures
from workflow_scripts.core.run import job

PANELS_IN_A_ROW = 4


@figures.drawn
def clark2019_fig5(examples: Path, coreference: Path | None = None) -> Figure:
    """A panel per relation and sentence, and per passage with coreferent mentions.

    The words that attend are in colour. Of a passage, only what its mentions attend to is drawn,
    with an opacity of the weight's square root: such a head gives much to [CLS], and little each to
    many words.
    """
    panels = [(rows, 1.0) for _, rows in tables.read(examples).groupby("drawing")]
    if coreference:
        frame = tables.read(coreference)
        only = frame.assign(weight=frame["weight"].where(frame["highlighted"], 0.0))
        panels += [(rows, 0.5) for _, rows in only.groupby("drawing")]
    height = 0.5 + 0.13 * (max(rows["query"].max() for rows, _ in panels) + 1)
    columns = min(PANELS_IN_A_ROW, len(panels))
    rows = -(-len(panels) // columns)
    width = attention_lines.WIDTH * columns
    figure, axes = figures.new(width, height * rows, columns=columns, rows=rows)
    for panel, (drawing, power) in zip(axes, panels, strict=False):
        attention_lines.draw_panel(panel, drawing, power=power)
    for unused in axes[len(panels) :]:
        unused.axis("off")
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
