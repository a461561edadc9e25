"""Michel et al. 2019, Figure 1: how the heads' scores are distributed when each is masked alone."""

from pathlib import Path

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a histogram per task, the mean over seeds; an orange line marks the unchanged model."""
    frame = effects.over_seeds(effects.main_rows(effects.read_scores(scores, "head"), "zero"))
    names = present(frame)
    with figures.style():
        figure, panels = figures.panels([effects.title_of(name) for name in names], 1.75, 1.4)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            axes.hist(rows["score"], bins=20, color=figures.COLOURS[0])
            axes.axvline(rows["baseline"].mean(), color=figures.BASELINE, linewidth=2)
            axes.set_xlabel("Score without the head")
            axes.set_ylabel("Heads")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
