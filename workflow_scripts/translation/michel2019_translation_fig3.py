"""Michel et al. 2019, Figure 3a: BLEU as more and more of all heads are pruned, by order."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation import curve_drawings as curves_of_runs


def main(curves: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw BLEU, and next to it the teacher-forced loss: a line per order, means over runs."""
    frame = tables.read_all(curves, curves_of_runs.COLUMNS)
    frame = frame[frame["scope"] == "all"]
    titles = [f"{name}\n{curves_of_runs.sample(frame)}" for name in ("BLEU", "Teacher-forced loss")]
    with figures.style():
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.3)
        for axes, (metric, name) in zip(panels, curves_of_runs.METRICS.items(), strict=True):
            rows = frame[frame["metric"] == metric]
            for strategy, look in curves_of_runs.ORDERS.items():
                if (rows["strategy"] == strategy).any():
                    curves_of_runs.line(axes, rows[rows["strategy"] == strategy], look)
            axes.set_xlabel("Heads pruned, %")
            axes.set_ylabel(name)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
