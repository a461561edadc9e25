"""Clark et al. 2019, Figure 6: heads in the plane, coloured by behaviour and by layer.

As in the paper, black crosses mark the heads with a linguistic behaviour.
"""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job

MAX_NAMED = 6  # heads of one behaviour; the names of more would overlap


@figures.drawn
def clark2019_fig6(embedding: Path, linguistic: Path) -> Figure:
    """Both panels; heads whose behaviour is rare, and linguistic heads, carry their names."""
    frame, best = tables.read(embedding), tables.read(linguistic)
    marked = best[best["marked"].astype(bool)].groupby(["layer", "head"])["behaviour"]
    pairs = pd.MultiIndex.from_frame(frame[["layer", "head"]])
    names = marked.agg(", ".join).reindex(pairs).to_numpy()
    crosses = frame.assign(linguistic=names).dropna(subset="linguistic")
    figure, (left, right) = figures.new(figures.TWO_COLUMNS, 3.6, columns=2)
    named = [(row, row.linguistic) for row in crosses.itertuples()]
    for behaviour, look in colours.TOKENS.items():
        rows = frame[frame["behaviour"] == behaviour]
        if behaviour == "other":
            left.plot(rows["x"], rows["y"], "o", color=look.colour, label=look.name, zorder=1)
        elif len(rows):
            style = {"color": look.colour, "marker": look.marker, "markersize": 5}
            left.plot(rows["x"], rows["y"], ls="", label=look.name, **style)
            rare = rows if len(rows) <= MAX_NAMED else rows[:0]
            named += [(row, "") for row in rare[~rare.index.isin(crosses.index)].itertuples()]
    if len(crosses):
        style = {"color": colours.BLACK, "label": "linguistic", "markersize": 6}
        left.plot(crosses["x"], crosses["y"], "x", **style)
    looks = colours.in_order(frame["layer"].max() + 1)
    for layer, rows in frame.groupby("layer"):
        style = {"color": looks[layer].colour, "marker": looks[layer].marker}
        right.plot(rows["x"], rows["y"], ls="", label=f"layer {layer + 1}", **style)
    for axes, title in ((left, "by behaviour"), (right, "by layer")):
        axes.set(title=title, xticks=[], yticks=[])
        axes.set_aspect("equal", adjustable="datalim")  # only distances have a meaning
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, columnspacing=0.8)
    stress = frame["stress"].iloc[0]
    names = [f"{head_label(row.layer, row.head)} {words}".strip() for row, words in named]
    figure.supxlabel(f"stress {stress:.2f} (0: all distances are kept)", fontsize=7)
    figures.write_names(left, [(row.x, row.y) for row, _ in named], names, frame[["x", "y"]])
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
