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
    "gates": Look("learnt gates", colours.YELLOW, "p"),
    "random": Look("random order", colours.GREY, "^", ":"),
    "longer window": Look("all heads, longer window, same bytes", colours.SILVER, "", "--"),
}

BANDS = ("exact", "random", "longer window")  # more would hide each other


@figures.drawn
def context_curves(curves: Path, recall: Path) -> Figure:
    """The loss and recalled passkeys by the share of streaming heads, a line for each order."""
    figure, panels = figures.new(figures.TWO_COLUMNS, 3.4, columns=2)
    frame, of_keys = tables.read_csv(curves), tables.read_csv(recall)
    of_keys.update(100 * of_keys.filter(like="recall"))
    for axes, table, value in zip(panels, (frame, of_keys), ("change", "recall"), strict=True):
        for name, look in LOOKS.items():
            rows = table[table["order"] == name]
            if len(rows):
                ends = (rows[f"{value}_low"], rows[f"{value}_high"]) if name in BANDS else None
                figures.line(axes, 100 * rows["share"], rows[value], look, look.name, ends)
        axes.set_xlabel(f"Streaming, % of {frame['streaming'].max()} heads")
    panels[0].axhline(0, color=colours.UNCHANGED, lw=1, zorder=1)
    over, plain = figures.sample(frame, "documents"), frame["nats"].iloc[0]
    panels[0].set_ylabel(f"Nats per token above {plain:.3f}; {over}")
    panels[1].set_ylabel(f"Recalled, % of {of_keys['keys'].iloc[0]} passkeys")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
