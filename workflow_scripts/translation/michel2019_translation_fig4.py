"""Michel et al. 2019, Figure 4: BLEU as heads of one type of attention are pruned."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation import curve_drawings as curves_of_runs


def main(curves: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per order with a line per type, over the share of that type's heads."""
    frame = tables.read_all(curves, curves_of_runs.COLUMNS)
    frame = frame[frame["metric"] == "bleu"]
    strategies = [name for name in curves_of_runs.ORDERS if (frame["strategy"] == name).any()]
    titles = [
        f"Pruned {curves_of_runs.BY[name]}\n{curves_of_runs.sample(frame)}" for name in strategies
    ]
    width = figures.TWO_COLUMNS / max(2, len(strategies))
    with figures.style():
        figure, panels = figures.panels(titles, width, 2.2, columns=3)
        for axes, strategy in zip(panels, strategies, strict=True):
            for kind, look in colours.ATTENTION.items():
                rows = frame[(frame["strategy"] == strategy) & (frame["scope"] == kind)]
                curves_of_runs.line(axes, rows, look)
            axes.sharey(panels[0])
            axes.set_xlabel("Heads of the type pruned, %")
        panels[0].set_ylabel("BLEU")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
