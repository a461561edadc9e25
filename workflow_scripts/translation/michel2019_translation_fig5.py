"""Michel et al. 2019, Figure 5: the share of the unpruned BLEU, after epochs of the training."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation import curve_drawings as curves_of_runs


def main(training: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a line per epoch, means over runs, and name its unpruned BLEU and its agreement.

    Agreement is the correlation of an epoch's importance with the last one's, over heads.
    """
    frame = tables.read_all(training, (*curves_of_runs.COLUMNS, "epoch", "baseline"))
    frame = frame[frame["metric"] == "bleu"]
    agreement = tables.read_all(importance, ("epoch", "agreement")).groupby("epoch")["agreement"]
    agreement, epochs = agreement.mean(), sorted(frame["epoch"].unique())
    with figures.style():
        title = f"Pruning by importance\n{curves_of_runs.sample(frame)}"
        figure, [axes] = figures.panels([title], figures.ONE_COLUMN * 1.2, 3.4)
        for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
            rows = frame[frame["epoch"] == epoch]
            means, bleu = curves_of_runs.over_runs(rows), rows["baseline"].mean()
            name = f"epoch {epoch}: BLEU {bleu:.1f}, agreement {agreement[epoch]:.2f}"
            figures.line(axes, 100 * means["share"], 100 * means["kept"], look, name)
        axes.set_xlabel("Heads pruned, %")
        axes.set_ylabel("Share of the unpruned BLEU, %")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
