"""Kovaleva et al. 2019, Figure 8: the score with one head disabled, for every head and task."""

from pathlib import Path

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(scores: list[Path], mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task, the mean over seeds; an orange line marks the unchanged model."""
    frame = effects.main_rows(effects.read_scores(scores, "head"), mode)
    names = present(frame)
    with figures.style():
        figure, panels = figures.panels([effects.title_of(name) for name in names], 1.85, 1.35)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            grid, baseline = heatmaps.grid_of(rows, "score"), rows["baseline"].mean()
            low, high = min(grid.min(), baseline), max(grid.max(), baseline)
            margin = 0.03 * max(high - low, 1e-3)
            image = heatmaps.draw(axes, grid, low - margin, high + margin)
            bar = figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05, aspect=12)
            bar.ax.axhline(baseline, color=figures.BASELINE, linewidth=2)
            bar.ax.tick_params(labelsize=6)
            axes.set_xlabel("Head")
            axes.set_ylabel("Layer")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
