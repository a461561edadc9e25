"""Michel et al. 2019, Figure 5: the share of the unpruned BLEU, after epochs of the training."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, epoch_names, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation import curve_drawings as curves_of_runs

KEPT = ["kept", "kept_low", "kept_high"]


def main(training: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a line per epoch, means over runs, and name its unpruned BLEU.

    Bands are means over runs of each share's interval over sentences. The legend has the
    correlation of an epoch's importance with the last one's, over heads.
    """
    columns = (*curves_of_runs.COLUMNS, *KEPT, "epoch", "baseline", "heads")
    frame = tables.read_all(training, tuple(dict.fromkeys(columns)))
    frame = frame[frame["metric"] == "bleu"]
    agreement = tables.read_all(importance, ("epoch", "agreement")).groupby("epoch")["agreement"]
    agreement, epochs = agreement.mean(), sorted(frame["epoch"].unique())
    heads = frame["heads"].iloc[0]
    with figures.style():
        title = f"Pruning by importance\n{curves_of_runs.sample(frame)}"
        figure, [axes] = figures.panels([title], figures.ONE_COLUMN * 1.2, 3.6)
        for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
            rows = frame[frame["epoch"] == epoch]
            means, bleu = 100 * rows.groupby("pruned")[["share", *KEPT]].mean(), rows["baseline"]
            name = epoch_names.name(epoch, agreement, f": BLEU {bleu.mean():.1f}")
            ends = means["kept_low"], means["kept_high"]
            figures.line(axes, means["share"], means["kept"], look, name, ends)
        axes.set_xlabel(f"Heads pruned, % of {heads}")
        axes.set_ylabel("BLEU, % of that without pruning")
        epoch_names.legend(axes, heads, -0.2, epochs=epochs)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
