"""The strongest retrieval heads, and how much of the needles the model produces."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

STRONGEST = 20  # heads
LOOKS = {
    True: Look("retrieval head", colours.VERMILLION, "D"),
    False: Look("other head", colours.NEUTRAL),
}


def draw_heads(axes: Axes, frame: pd.DataFrame, threshold: float) -> None:
    """The heads with the highest scores, the highest at the top, with intervals and their null."""
    rows = frame.nlargest(STRONGEST, "score").reset_index(drop=True)
    for retrieves, look in LOOKS.items():
        some = rows[rows["has_role"] == retrieves]
        if len(some):
            ends = [some["score"] - some["ci_low"], some["ci_high"] - some["score"]]
            bars = {"fmt": look.marker, "color": look.colour, "capsize": 2, "lw": 0.8}
            axes.errorbar(some["score"], some.index, xerr=ends, label=look.name, **bars)
    null = {"color": colours.GREY, "marker": "s", "markerfacecolor": colours.WHITE, "linestyle": ""}
    axes.plot(rows["others"], rows.index, label="null: the answer's other tokens", zorder=1, **null)
    line = {"color": colours.BLACK, "linestyle": ":", "linewidth": 0.8}
    axes.axvline(threshold, label=f"threshold, {threshold:g}", **line)
    axes.set_yticks(rows.index, labels(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("Share of the answers' tokens copied")
    axes.set_ylabel("Head")


def draw_needles(axes: Axes, needles: pd.DataFrame) -> None:
    """What the model produces of each needle's answer, over the needle's depth in the text."""
    produced = needles["produced"] / needles["answer_tokens"]
    axes.plot(needles["depth"], produced, "o", color=colours.BLUE, clip_on=False, zorder=3)
    axes.axhline(produced.mean(), color=colours.BLUE, linewidth=0.8, linestyle="--")
    whole = f"{needles['whole'].sum()} of {len(needles)} needles produced whole"
    axes.set_title(f"{whole};\nmean share {produced.mean():.2f} (dashed)")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.set_xlabel("Depth of the needle in the text")
    axes.set_ylabel("Share of the answer")


def draw(frame: pd.DataFrame, needles: pd.DataFrame, threshold: float) -> Figure:
    """The heads on the left, the needles on the right."""
    shown = min(STRONGEST, len(frame))
    figure, (left, right) = figures.new(figures.TWO_COLUMNS, 1.5 + 0.12 * max(shown, 10), columns=2)
    draw_heads(left, frame, threshold)
    retrieve = f"{frame['has_role'].sum()} of {len(frame)} heads retrieve"
    left.set_title(f"{retrieve};\nthe {shown} strongest")
    draw_needles(right, needles)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.supxlabel(figures.sample(frame, "needles"), fontsize=7)
    return figure


def main(retrieval: Path, needles: Path, svg: Out, pdf: Out, png: Out, threshold: float) -> None:
    """Draw both panels."""
    columns = ("layer", "head", "score", "ci_low", "ci_high", "others", "has_role", "n")
    frame = tables.read(retrieval, columns)
    with figures.style():
        figures.save(draw(frame, tables.read_csv(needles), threshold), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
