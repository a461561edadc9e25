"""The figure of changes between two models."""

from pathlib import Path

from matplotlib.figure import Figure

from workflow_scripts.compare import DIVERGENCE
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job


@figures.drawn
def compare_divergence(heads: Path) -> Figure:
    """A map of all heads, on a scale from 0."""
    rows = tables.where(tables.read(heads), measure=DIVERGENCE)
    grid = heatmaps.grid_of(rows, "change")
    title = f"divergence from {rows['compared_with'].iloc[0]}"
    figure, ((axes,),) = heatmaps.sheet([""], [title], grid.shape)
    image = heatmaps.draw(axes, grid, 0, max(grid.max(), 1e-3))
    heatmaps.bar(image, [axes], "nats")
    figure.supxlabel(figures.sample(rows, "segments", "documents"), fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
