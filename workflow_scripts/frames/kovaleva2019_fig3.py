"""Kovaleva et al. 2019, Figure 3: attention between predicates and their frame elements."""

from pathlib import Path

from matplotlib.patches import Rectangle

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.plots.attention_lines import COLUMNS, draw_panel
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

MAX_PANELS = 4


def main(scores: Path, drawings: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the heat map with the heads above the percentile framed, and these heads' lines."""
    frame = tables.read(scores, ("layer", "head", "direction", "attention"))
    grid = heatmaps.grid_of(frame[frame["direction"] == "either"], "attention")
    lines = tables.read(drawings, COLUMNS)
    shown = sorted(lines["drawing"].unique())[:MAX_PANELS]
    n_words = lines["query"].max() + 1
    with figures.style():
        height = max(2.6, 0.6 + 0.15 * n_words)
        figure, axes = figures.new(3.2 + 1.9 * len(shown), height, columns=1 + len(shown))
        image = heatmaps.draw(axes[0], grid, 0.0, grid.max())
        axes[0].set_xlabel("Head")
        axes[0].set_ylabel("Layer")
        axes[0].set_title("Predicate and frame element")
        figure.colorbar(image, ax=axes[0], label="Mean maximum attention", shrink=0.7)
        for panel_axes, number in zip(axes[1:], shown, strict=True):
            rows = lines[lines["drawing"] == number]
            layer, head = rows["layer"].iloc[0], rows["head"].iloc[0]
            frame = Rectangle(
                (head - 0.5, layer - 0.5), 1, 1, fill=False, edgecolor=figures.COLOURS[1], lw=1.2
            )
            axes[0].add_patch(frame)
            draw_panel(panel_axes, rows)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
