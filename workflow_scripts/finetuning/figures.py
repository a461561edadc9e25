"""The figures of Kovaleva et al. 2019, sections 4.3 to 4.5, 5 and appendix A; the table of 4.5."""

import textwrap
from itertools import chain, product
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.heads import head_label, head_labels
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.finetuning.finetuning_tables import STAGES
from workflow_scripts.finetuning.token_kinds import KINDS, LINGUISTIC


@figures.drawn
def kovaleva2019_fig5(similarity: list[Path]) -> Figure:
    """A heat map per task, the mean over seeds; darker means a greater change."""
    frame = tables.read_all(similarity)
    changes = frame.assign(change=1 - frame["similarity"])
    return heatmaps.of_tasks({"": changes}, "change", "1 − cosine")


@figures.drawn
def kovaleva2019_fig6(features: list[Path]) -> Figure:
    """A row of heat maps for each token, on a scale of its own from 0; the mean over seeds."""
    frame = tables.read_all(features)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "all")]
    frame = frame.assign(attention=100 * frame["attention"])
    rows = {f"[{kind.upper()}]": frame[frame["kind"] == kind] for kind in ("sep", "cls")}
    return heatmaps.of_tasks(rows, "attention", "Mean attention, %")


def unclear(frame: pd.DataFrame) -> np.ndarray:
    """Where a change may be none: the intervals of before and after overlap, [layer, head].

    Each is the normal interval as wide as the 95% interval over examples (mean over seeds), widened
    so that all heads together hold with 95% (Bonferroni). Intervals of one head's two means that do
    not overlap differ whatever the correlation of the two.
    """
    half = (frame["ci_high"] - frame["ci_low"]).fillna(np.inf) / 2  # NaN with a single example
    halves, mean = (
        heatmaps.grids(frame.assign(half=half), "stage", name) for name in ("half", "attention")
    )
    before, after = STAGES
    error = halves[before] + halves[after]
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / error.size) / normal.inv_cdf(0.975)
    return np.abs(mean[after] - mean[before]) <= wider * error


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per task and kind: mean attention before and after, and the head that gains most.

    `<stage>_share` is the attention to all tokens of the kind together, `tokens` their share of
    the tokens. `n` examples have the kind, `n_without` do not. Mean over seeds.
    """
    means = frame.groupby(["task", "kind", "layer", "head", "stage"], sort=False)[
        "attention"
    ].mean()
    shares = frame.groupby(["task", "kind", "stage"], sort=False)["share"].mean()
    both = means.unstack("stage").dropna()
    both["gain"] = both["fine-tuned"] - both["pretrained"]
    rows = []
    for (task, kind), heads in both.groupby(["task", "kind"], sort=False):
        _, _, layer, head = heads["gain"].idxmax()
        counted = frame[(frame["task"] == task) & (frame["kind"] == kind)].iloc[0]
        row = {"task": TASKS[task].title, "kind": kind}
        row |= heads[["pretrained", "fine-tuned"]].mean().to_dict()
        row |= {"head": head_label(layer, head), "gain": heads["gain"].max()}
        row |= {f"{stage}_share": shares[task, kind, stage] for stage in STAGES}
        rows.append(row | counted[["tokens", "n", "n_without"]].to_dict())
    return pd.DataFrame(rows)


CHANGED = {  # by whether a change may be none
    True: colours.Look("a head; its 95% intervals before and after overlap", colours.PALE, "x"),
    False: colours.Look("a head; they do not (corrected for all heads)", colours.NEUTRAL),
}


@figures.drawn
def kovaleva2019_features(features: list[Path], table: job.Out) -> Figure:
    """A panel for each kind of word and task: every head's change over its layer, mean over seeds.

    Panels of one kind share a scale. The table has the special tokens too.
    """
    frame = tables.read_all(features)
    frame = frame[frame["query"] == "all"]
    tables.write_csv(summary(frame), table)
    frame = frame[frame["kind"].isin(LINGUISTIC)].dropna(subset="attention")
    names, of_panel = present_tasks(frame), dict(list(frame.groupby(["kind", "task"])))
    keys = [key for key in product(LINGUISTIC, names) if key in of_panel]
    titles = [
        f"{TASKS[task].title}\n{kind} ({of_panel[kind, task]['n'].max():.0f})"
        for kind, task in keys
    ]
    columns = len(names) if len(names) > 1 else 3
    width = figures.TWO_COLUMNS / columns
    figure, panels = figures.panels(titles, width, 1.4, columns)
    first: dict[str, Axes] = {}
    for axes, key in zip(panels, keys, strict=True):
        rows = of_panel[key]
        axes.title.set_fontsize(figures.SMALL if columns > 6 else 7)
        before, after = map(heatmaps.grids(rows, "stage", "attention").get, STAGES)
        change, hidden = 100 * (after - before), unclear(rows)
        layers = np.repeat(range(1, len(change) + 1), change.shape[1]).reshape(change.shape)
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        for of, look in CHANGED.items():
            style = {"color": look.colour, "ls": "", "markersize": 2.5, "label": look.name}
            axes.plot(layers[hidden == of], change[hidden == of], look.marker, **style)
        axes.plot(layers[:, 0], change.mean(axis=1), color=colours.BLACK, label="mean of a layer")
        figures.layer_axis(axes, len(change))
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.sharey(first.setdefault(key[0], axes))
    for axes in panels[::columns]:
        axes.set_ylabel("Change, points")
    for axes in panels[:-columns]:
        axes.set_xlabel("")
    handles = panels[0].get_legend_handles_labels()
    seeds = figures.counted(frame["seed"].nunique(), "seed")
    figure.legend(*handles, title=seeds, title_fontsize=7, loc="outside lower center", ncols=3)
    return figure


@figures.drawn
def kovaleva2019_fig7(features: list[Path]) -> Figure:
    """A panel per task: heads of the last layer over kinds of tokens, the mean over seeds.

    Each kind stands with the number of examples that have it.
    """
    frame = tables.read_all(features)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "cls")]
    frame = frame[frame["layer"] == frame["layer"].max()]
    names = present_tasks(frame)
    n_heads = frame["head"].max() + 1
    titles = []
    for name in names:
        rows = frame[frame["task"] == name]
        widest = ((rows["ci_high"] - rows["ci_low"]) / 2).max()
        seeds = figures.counted(rows["seed"].nunique(), "seed")
        titles.append(f"{TASKS[name].title}\n{seeds}, 95% intervals up to ±{widest:.2f}")
    height = max(1.7, 1.05 + 0.13 * n_heads)
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
    scale = {"cmap": colours.MORE, "vmin": 0, "vmax": frame["attention"].max()}
    looks = colours.TOKENS
    of_kind = {kind: looks[kind].name if kind in looks else kind for kind in KINDS}
    for axes, name in zip(panels, names, strict=True):
        rows = frame[frame["task"] == name]
        grid = rows.pivot_table(index="head", columns="kind", values="attention", dropna=False)
        grid = grid.reindex(columns=KINDS).to_numpy()
        image = axes.imshow(grid, aspect="auto", origin="lower", rasterized=True, **scale)
        counts = rows.groupby("kind")["n"].max()
        kinds = [f"{name} ({counts.get(kind, 0):.0f})" for kind, name in of_kind.items()]
        axes.set_xticks(range(len(KINDS)), kinds, rotation=90)
        axes.patch.set(hatch="////", edgecolor=colours.PALE)  # seen where there is no such word
        axes.set_yticks(*heatmaps.ticks(n_heads))
    panels[0].set_ylabel("Head of the last layer")
    heatmaps.bar(image, panels, "Attention from [CLS]")
    return figure


def top_heads(
    frame: pd.DataFrame, groups: list[str], measure: str, others: list[str]
) -> pd.DataFrame:
    """The three heads with the largest `measure` in each group, mean over seeds.

    Rows of the groups and heads, with the `measure` among the `others`, columns that stay; tasks
    by their titles.
    """
    keys = [*groups, "layer", "head"]
    mean = frame.groupby(keys, sort=False, as_index=False).mean(numeric_only=True)
    top = mean.dropna(subset=measure).sort_values(measure, ascending=False)
    top = top.groupby(groups, sort=False).head(3)
    ascending = [name != measure for name in (*groups, measure)]
    top = top.sort_values([*groups, measure], ascending=ascending)
    titles = [TASKS[name].title for name in top["task"]]
    return top.assign(head=head_labels(top), task=titles)[[*groups, "head", *others]]


LINK_COLUMNS = ["attention", "ci_low", "ci_high", "n", "links"]
LINK_COLUMNS += ["neighbours", "neighbours_low", "neighbours_high"]


def kovaleva2019_links(links: list[Path], table: job.Out) -> None:
    """Write the three heads with most attention along each link, and theirs to neighbours.

    A row each by task, stage, link and distance, means over seeds.
    """
    frame, groups = tables.read_all(links), ["task", "stage", "link", "far"]
    tables.write_csv(top_heads(frame, groups, "attention", LINK_COLUMNS), table)


SHARED_COLUMNS = ["attention", "others", "excess", "ci_low", "ci_high", "n"]


@figures.drawn
def kovaleva2019_shared(shared: list[Path], table: job.Out) -> Figure:
    """The excess for each task and stage, the mean over seeds; the table has the strongest heads.

    The figure has the measure `copy`, the table both.
    """
    frame, groups = tables.read_all(shared), ["task", "stage", "measure"]
    tables.write_csv(top_heads(frame, groups, "excess", SHARED_COLUMNS), table)
    frame = frame[frame["measure"] == "copy"].dropna(subset="excess")
    grids = heatmaps.grids(frame, ["stage", "task"], "excess")
    largest = max(np.abs(grid).max() for grid in grids.values())
    figure, panels, names = heatmaps.task_sheet(frame, [stage.capitalize() for stage in STAGES])
    for axes, panel in zip(panels.ravel(), product(STAGES, names), strict=True):
        image = heatmaps.around_zero(axes, grids[panel], largest)
    heatmaps.bar(image, panels.ravel(), "Attention to copies minus others")
    figure.supxlabel(figures.sample(frame, "examples of each task"), fontsize=7)
    return figure


ROOM = 6.5, 8.5  # inches for all maps on a page, across and down
GAP = 0.08  # between maps, as a share of a map
TOP = 0.25  # the weight from which on the colour is the darkest
LINES = 12  # of a text: 128 tokens have fewer
LETTERS = 16  # of a text, for each inch of the figure's width


def draw_grid(axes: Axes, patterns: np.ndarray, title: str) -> AxesImage:
    """The maps [layer, head, query, key] as one image, layer 1 at the bottom; darker for more."""
    n_layers, n_heads, length, _ = patterns.shape
    gap = max(1, round(GAP * length))
    pitch, around = length + gap, [(0, 0), (0, 0), (0, gap), (0, gap)]
    image = np.pad(patterns[::-1].astype(float), around, constant_values=np.nan)
    image = image.swapaxes(1, 2).reshape(n_layers * pitch, n_heads * pitch)
    shown = axes.imshow(image, cmap=colours.MORE, vmin=0, vmax=TOP, interpolation="nearest")
    middle = (length - 1) / 2
    axes.set_xticks([head * pitch + middle for head in range(n_heads)], range(1, n_heads + 1))
    middles = [layer * pitch + middle for layer in reversed(range(n_layers))]
    axes.set_yticks(middles, range(1, n_layers + 1))
    corners = [(x * pitch - 0.5, y * pitch - 0.5) for x in range(n_heads) for y in range(n_layers)]
    frames = [Rectangle(corner, length, length) for corner in corners]
    style = {"facecolor": "none", "edgecolor": colours.GREY, "linewidth": 0.3}
    axes.add_collection(PatchCollection(frames, **style))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="Head", ylabel="Layer", title=title)
    return shown


@figures.drawn
def kovaleva2019_maps(maps: Path, examples: Path) -> Figure:
    """Both grids: pretrained first, then fine-tuned. `examples` are the task's, with texts.

    They stand above each other where this makes the maps larger and still leaves room on a page.
    """
    frame = tables.read(maps)
    n_layers, n_heads, length = (frame[name].max() + 1 for name in ("layer", "head", "query"))
    across, down = ROOM
    cells = {
        columns: min(across / (columns * n_heads), down / (2 / columns * n_layers))
        for columns in (1, 2)
    }
    columns, cell = max(cells.items(), key=lambda choice: choice[1])
    width = min(figures.TWO_COLUMNS, cell * n_heads * columns + 1.0)
    task, example = TASKS[frame["task"].iloc[0]].title, frame["example"].iloc[0]
    (found,) = (each.texts for each in read_examples(examples) if each.id == example)
    shorter = {"max_lines": LINES, "placeholder": " …"}
    lines = [textwrap.wrap(text, round(LETTERS * width), **shorter) for text in found]
    texts = "\n".join(chain(*lines))
    height = (cell * n_layers + 0.45) * (2 // columns) + 0.4 + 0.13 * texts.count("\n")
    figure, axes = figures.new(width, height, columns=columns, rows=2 // columns)
    for panel, (stage, rows) in zip(axes, frame.groupby("stage", sort=False), strict=True):
        weights = rows.sort_values(["layer", "head", "query", "key"])["weight"].to_numpy()
        patterns = weights.reshape(n_layers, n_heads, length, length)
        shown = draw_grid(panel, patterns, stage.capitalize())
    heatmaps.bar(shown, axes, "Attention weight", shrink=0.4, extend="max")
    figure.suptitle(f"{task}, example {example}, {length} tokens:\n{texts}", fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
