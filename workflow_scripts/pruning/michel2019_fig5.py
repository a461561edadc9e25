"""Michel et al. 2019, Figure 5: pruning after each epoch of fine-tuning."""

from pathlib import Path

from matplotlib import colormaps

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(curves: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw for each task the curves of all epochs, means over seeds, and name their agreement.

    Agreement is the correlation of an epoch's importance with the last one's, over heads.
    """
    columns = ("task", "epoch", "pruned", "heads", "metric", "score")
    frame = effects.on_main_metric(tables.read_all(curves, columns))
    agreements = tables.read_all(importance, ("task", "epoch", "agreement"))
    names = present(frame)
    with figures.style():
        titles = [effects.title_of(name) for name in names]
        figure, panels = figures.panels(titles, 1.4 * figures.ONE_COLUMN, 2.0, columns=2)
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            epochs = sorted(rows["epoch"].unique())
            for number, epoch in enumerate(epochs):
                line = rows[rows["epoch"] == epoch].groupby("pruned")["score"].mean()
                of_epoch = (agreements["task"] == task) & (agreements["epoch"] == epoch)
                agreement = agreements[of_epoch]["agreement"].mean()
                shade = colormaps["viridis_r"]((number + 1) / len(epochs))
                marker = figures.MARKERS[number % len(figures.MARKERS)]
                name = f"epoch {epoch}, agreement {agreement:.2f}"
                share = 100 * line.index / rows["heads"].iloc[0]
                axes.plot(share, line, color=shade, marker=marker, markersize=2.5, label=name)
            axes.set_xlabel("Heads pruned, %")
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
