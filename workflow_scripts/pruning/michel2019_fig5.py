"""Michel et al. 2019, Figure 5: pruning after each epoch of fine-tuning."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects

# Inches of a panel: of one or two tasks, and of more.
FEW, MANY = (figures.ONE_COLUMN, 3.0), (figures.TWO_COLUMNS / 3, 2.2)


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
        figure, panels = figures.panels(titles, *(FEW if len(names) < 3 else MANY), columns=3)
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            epochs = sorted(rows["epoch"].unique())
            for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
                line = rows[rows["epoch"] == epoch].groupby("pruned")["score"].mean()
                of_epoch = (agreements["task"] == task) & (agreements["epoch"] == epoch)
                agreement = agreements[of_epoch]["agreement"].mean()
                name = f"epoch {epoch}, agreement {agreement:.2f}"
                share = 100 * line.index / rows["heads"].iloc[0]
                figures.line(axes, share, 100 * line, look, name)
            axes.set_xlabel("Heads pruned, %")
            axes.set_ylabel("Score")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
