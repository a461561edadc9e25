"""The figure of streaming key-value heads."""

from pathlib import Path

from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.run import job

LOOKS = {
    "exact": Look("exact loss, one head streaming", colours.BLACK, "D"),
    "estimate": Look("its estimate, one backward pass", colours.BLUE, "o"),
    "kvzip": Look("KVzip, mean over tokens", colours.VERMILLION, "s"),
    "kvzip_max": Look("KVzip, largest of tokens", colours.PURPLE, "v"),
    "outside": Look("attention outside", colours.GREEN, "P"),
    "retrieval": Look("retrieval (easier form)", colours.SKY, "X"),
    "random": Look("random order", colours.GREY, "^", ":"),
    "longer window": Look("all heads, longer window, same bytes", colours.SILVER, "", "--"),
}


@figures.drawn
def context_curves(curves: Path) -> Figure:
    """The loss by the share of streaming heads, a line for each order."""
    frame = tables.read_csv(curves)
    figure, (axes,) = figures.new(figures.TWO_COLUMNS, 3.4)
    for name, look in LOOKS.items():
        rows = frame[frame["order"] == name]
        if len(rows):
            ends = rows["change_low"], rows["change_high"]
            figures.line(axes, 100 * rows["share"], rows["change"], look, look.name, ends)
    heads, plain = frame["streaming"].max(), frame["nats"].iloc[0]
    axes.axhline(0, color=colours.UNCHANGED, lw=1, zorder=1)
    over = figures.sample(frame, "documents")
    axes.set_xlabel(f"Streaming, % of {heads} key-value heads; {over}")
    axes.set_ylabel(f"Nats per token\nabove {plain:.3f}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
