"""Kovaleva et al. 2019, section 4.2: heads that link predicates and their frame elements."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import FRAME_DIRECTION, frame_heads
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.plots import attention_lines, colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.frames.frame_drawings import directions_of, heads_above
from workflow_scripts.frames.measures import DIRECTIONS

TO_EARLIER = "To the earlier side"  # of a decoder


def draw_attention(axes: list[Axes], frame: pd.DataFrame, percentile: float) -> AxesImage:
    """A map for each direction, on one scale, with the heads above the percentile framed."""
    top = 100 * frame["attention"].max()
    for panel, name in zip(axes, directions_of(frame), strict=True):
        rows = frame[frame["direction"] == name]
        image = heatmaps.draw(panel, 100 * heatmaps.grid_of(rows, "attention"), 0.0, top)
        panel.set_title(TO_EARLIER if "coverage" in frame else DIRECTIONS[name].capitalize())
        for row in heads_above(frame, percentile, name).itertuples():
            corner, style = (row.head - 0.5, row.layer - 0.5), {"linewidth": 1.2, "fill": False}
            panel.add_patch(Rectangle(corner, 1, 1, edgecolor=colours.HIGHLIGHT, **style))
    return image


@figures.drawn
def kovaleva2019_fig3(scores: Path, drawings: Path, percentile: float, generated: bool) -> Figure:
    """Each direction's map and the comparison with controls above, a few heads' lines below."""
    frame, lines = tables.read(scores), tables.read(drawings)
    n_layers, n_words = frame["layer"].max() + 1, lines["query"].max() + 1
    heights = 0.95 + heatmaps.CELL * n_layers, 0.75 + 0.15 * n_words
    figure = Figure(figsize=(figures.TWO_COLUMNS, sum(heights)), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=heights)
    where = "generated sentences" if generated else "sentences of FrameNet"
    share = f", {frame['coverage'].iloc[0]:.0%} of the links" if "coverage" in frame else ""
    title = f"Predicate and frame element, {frame['n'].max():.0f} {where}{share}"
    above.suptitle(title, fontsize=8)
    maps = list(above.subplots(1, len(directions_of(frame)) + 1))
    maps[0].set_ylabel("Layer")
    for axes in maps:
        axes.set_xlabel("Head")
    heatmaps.bar(draw_attention(maps[:-1], frame, percentile), maps[-2:-1], "Attention, %")
    # How far attention along links exceeds that along controls, and the frame heads.
    either = frame[frame["direction"] == "either"].set_index(["layer", "head"])
    difference = 100 * either["difference"].unstack("head").to_numpy()
    heatmaps.bar(heatmaps.around_zero(maps[-1], difference), maps[-1:], "Points")
    heatmaps.dots(maps[-1], frame_heads(frame))
    maps[-1].set_title("Minus controls" if "coverage" in frame else "Either, minus controls")
    percentile_key = f"above the {percentile:g}th percentile of the map"
    keys = [
        Patch(facecolor="none", edgecolor=colours.HIGHLIGHT, linewidth=1.2, label=percentile_key),
        Line2D([], [], color=colours.BLACK, marker="o", markersize=1.6, ls="", label="frame head"),
    ]
    above.legend(handles=keys, loc="outside lower center", ncols=2)
    sentence = f"One sentence, {lines['title'].iloc[0]}"
    words = "links in orange; third line: means over all sentences"
    below.suptitle(f"{sentence}; {words}", fontsize=8)
    heads = [rows for _, rows in lines.groupby("drawing")]
    for axes, rows in zip(below.subplots(1, len(heads), squeeze=False)[0], heads, strict=True):
        largest = rows.loc[rows["highlighted"], "weight"].max()
        of_head = either.loc[(rows["layer"].iloc[0], rows["head"].iloc[0])]
        title = f"strongest link {largest:.0%}\n"
        title += f"links {of_head['linked']:.0%}, controls {of_head['control']:.0%}"
        titled = rows.assign(title=title)
        attention_lines.draw_panel(axes, titled, emphasise=True)
    return figure


# Two heads of BERT-base on 473 sentences. The text does not state the direction of its means.
PAPER = {FRAME_DIRECTION: "0.201 and 0.209"}
MEANS = ["attention", "ci_low", "ci_high", "n", "n_documents"]
COMPARED = ["linked", "control", "difference", "difference_low", "difference_high"]
COMPARED += ["p", "p_corrected", "n_compared", "n_documents_compared", "links_compared"]


def above_percentile(scores: pd.DataFrame, percentile: float) -> pd.DataFrame:
    """The heads above the percentile in each direction, next to the paper's."""
    names = directions_of(scores)
    chosen = pd.concat([heads_above(scores, percentile, name) for name in names])
    of_decoder = [name for name in ("uniform", "coverage") if name in chosen]
    paper = {} if of_decoder else PAPER  # the paper's links are on either side
    chosen["paper"] = [paper.get(name, "") for name in chosen["direction"]]
    columns = [*MEANS, *of_decoder, "percentile", "threshold", "heads", "count_fixed", "paper"]
    return named(chosen)[["direction", "head", *columns, "difference", "p_corrected"]]


def with_controls(scores: pd.DataFrame) -> pd.DataFrame:
    """All heads in each direction, those most above their controls first."""
    order = scores["direction"].map({name: number for number, name in enumerate(DIRECTIONS)})
    rows = scores.iloc[np.lexsort([-scores["difference"], order])]
    of_decoder = [name for name in ("uniform", "coverage") if name in rows]
    return named(rows)[["direction", "head", "attention", *of_decoder, *COMPARED]]


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the heads' names, such as 8-11, for their numbers."""
    return rows.assign(name=head_labels(rows)).drop(columns="head").rename(columns={"name": "head"})


def kovaleva2019_frames(
    scores: Path, table: job.Out, controls: job.Out, percentile: float, generated: bool
) -> None:
    """Write the heads above the percentile, and all heads next to their controls."""
    frame = tables.read(scores)
    listed = named(frame_heads(frame))["head"]
    for rows, path in (
        (above_percentile(frame, percentile), table),
        (with_controls(frame), controls),
    ):
        chosen = rows.assign(frame_head=rows["head"].isin(listed), generated=generated)
        tables.write_csv(chosen, path)


if __name__ == "__main__":
    job.run_figure(globals())
