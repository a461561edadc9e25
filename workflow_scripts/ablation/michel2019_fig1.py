"""Michel et al. 2019, Figure 1: how the heads' scores are distributed when each is masked alone."""

from pathlib import Path

from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a histogram per task, the mean over seeds; an orange line marks the unchanged model."""
    scored = effects.main_rows(effects.read_scores(scores, "head"), "zero")
    frame, names = effects.over_seeds(scored), present(scored)
    with figures.style():
        titles = figures.task_titles(scored, names, effects.title_of)
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.7)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            baseline = 100 * rows["baseline"].mean()
            axes.hist(100 * rows["score"], bins=20, color=colours.NEUTRAL)
            axes.axvline(baseline, color=colours.UNCHANGED, linewidth=2, label="unchanged model")
            axes.set_xlabel("Score without the head, points")
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panels[0].set_ylabel("Heads")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
