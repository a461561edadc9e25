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
from matplotlib.patches import Patch, Rectangle

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.heads import head_label, head_labels
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.finetuning.finetuning_tables import STAGES
from workflow_scripts.finetuning.token_kinds import KINDS, LINGUISTIC

SIMILARITY_ROWS = ("Real tokens", "Padded")


@figures.drawn
def kovaleva2019_fig5(similarity: list[Path], padded: list[Path]) -> Figure:
    """A heat map per task, the mean over seeds; darker means a greater change.

    With similarities of `padded` maps a second row, in colours of its own.
    """
    frame = tables.read_all(similarity)
    frames = [frame, tables.read_all(padded)] if padded else [frame]
    figure, panels, names = heatmaps.task_sheet(frame, SIMILARITY_ROWS if padded else [""])
    for cells, of_row in zip(panels, frames, strict=True):
        grids = heatmaps.grids(of_row.assign(change=1 - of_row["similarity"]), "task", "change")
        top = max(grid.max() for grid in grids.values())
        for axes, name in zip(cells, names, strict=True):
            image = heatmaps.draw(axes, grids[name], 0.0, top)
        heatmaps.bar(image, cells, "1 − cosine similarity")
    figure.supxlabel(figures.sample(frame, "examples of each task"), fontsize=7)
    return figure


SPECIAL_ROWS = {"sep": "[SEP]", "cls": "[CLS]"}


@figures.drawn
def kovaleva2019_fig6(features: list[Path]) -> Figure:
    """A row of heat maps for each token, on one scale from 0; the mean over seeds."""
    frame = tables.read_all(features)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "all")]
    frame = frame[frame["kind"].isin(SPECIAL_ROWS)]
    figure, panels, names = heatmaps.task_sheet(frame, list(SPECIAL_ROWS.values()))
    for cells, kind in zip(panels, SPECIAL_ROWS, strict=True):
        grids = heatmaps.grids(frame[frame["kind"] == kind], "task", "attention")
        top = max(grid.max() for grid in grids.values())
        for axes, name in zip(cells, names, strict=True):
            image = heatmaps.draw(axes, 100 * grids[name], 0.0, 100 * top)
        heatmaps.bar(image, cells, "Mean attention, %")
    figure.supxlabel(figures.sample(frame, "examples of each task"), fontsize=7)
    return figure


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


@figures.drawn
def kovaleva2019_features(features: list[Path], table: job.Out) -> Figure:
    """A row of heat maps for each kind of word, on one scale; red means more attention.

    A map for each task, the mean over seeds. The table has the special tokens too.
    """
    frame = tables.read_all(features)
    frame = frame[frame["query"] == "all"]
    tables.write_csv(summary(frame), table)
    frame = frame[frame["kind"].isin(LINGUISTIC)]
    of_panel = dict(list(frame.dropna(subset=["attention"]).groupby(["kind", "task"])))
    changes, sizes = {}, dict.fromkeys(LINGUISTIC, 0.0)
    for (kind, name), rows in of_panel.items():
        before, after = map(heatmaps.grids(rows, "stage", "attention").get, STAGES)
        changes[kind, name] = after - before
        sizes[kind] = max(sizes[kind], np.abs(after - before).max())
    titles = [f"{kind}\nmax ±{sizes[kind]:.2g}" for kind in LINGUISTIC]
    figure, panels, names = heatmaps.task_sheet(frame, titles)
    none = np.full((frame["layer"].max() + 1, frame["head"].max() + 1), np.nan)
    for cells, kind in zip(panels, LINGUISTIC, strict=True):
        for axes, name in zip(cells, names, strict=True):
            image = heatmaps.around_zero(axes, changes.get((kind, name), none), sizes[kind])
            if (kind, name) not in changes:
                heatmaps.note(axes, f"no {kind}")
                continue
            rows = of_panel[kind, name]
            heatmaps.mute(axes, image, unclear(rows))
            words = f"{axes.get_title()}\nn = {rows['n'].max():.0f}".strip()
            axes.set_title(words, fontsize=7, pad=2)
        heatmaps.bar(image, cells, "Change")
    seeds = figures.counted(frame["seed"].nunique(), "seed")
    heads = f"corrected for {none.size} heads"
    key = f"95% intervals before and after overlap, {heads} ({seeds})"
    figure.legend(handles=[heatmaps.muted_key(key)], loc="outside lower center")
    return figure


# Kinds that hardly overlap, so that shares can be stacked; subjects, objects and negation words
# are among them.
STACKED = ("cls", "sep", "punctuation", "noun", "verb", "pronoun")
LOOKS = colours.TOKENS | colours.WORDS
QUERIES = {"all": "From all tokens", "cls": "From [CLS]"}
WIDTH = 0.4
PER_LINE = 3  # tasks side by side
DOWN = 9.0  # inches for all panels at most
TICKS = 6  # layers that are written at most


def by_layer(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares of STACKED and `other`, the rest, means over heads and seeds; a row per layer.

    The last row, `tokens`, has the kinds' shares of the tokens.
    """
    frame = frame[frame["kind"].isin(STACKED)]
    shares = frame.pivot_table(index="layer", columns="kind", values="share")
    shares.loc["tokens"] = frame.groupby("kind")["tokens"].mean()
    shares = shares[list(STACKED)]
    return shares.assign(other=(1 - shares.sum(axis=1)).clip(lower=0))


def draw_bars(axes: Axes, shares: pd.DataFrame, stage: str) -> None:
    """Stacked bars of one stage, hatched before fine-tuning; the tokens' once, for both."""
    side = STAGES.index(stage)
    positions = np.arange(1, len(shares) + 1) + (side - 0.5) * WIDTH
    widths = np.full(len(shares), WIDTH * 0.95)
    positions[-1], widths[-1] = len(shares) + 0.5, WIDTH * 1.9
    n = len(shares) - (side == 0)
    parts = {kind: shares[kind].to_numpy()[:n] for kind in shares}
    style = {"hatch": colours.STAGES[stage].hatch, "linewidth": 0.3}
    figures.stacked(axes, positions[:n], widths[:n], parts, LOOKS, **style)


@figures.drawn
def kovaleva2019_shares(features: list[Path]) -> Figure:
    """A panel per task and query, with the kinds' shares of the tokens next to the layers."""
    frame = tables.read_all(features)
    names = present_tasks(frame)
    n_layers = frame["layer"].max() + 1
    per_line = min(PER_LINE, len(names))
    lines = -(-len(names) // per_line)
    height = 0.5 + min(1.75 * lines * len(QUERIES), DOWN)
    figure, cells = figures.new(figures.TWO_COLUMNS, height, per_line, lines * len(QUERIES))
    # [line, query, task within the line]
    panels = np.array(cells, dtype=object).reshape(lines, len(QUERIES), per_line)
    by_task = panels.transpose(0, 2, 1).reshape(-1, len(QUERIES))
    for spare in by_task[len(names) :].ravel():
        spare.remove()
    for of_name, name in zip(by_task, names, strict=False):
        for axes, query in zip(of_name, QUERIES, strict=True):
            of_task = frame[(frame["query"] == query) & (frame["task"] == name)]
            for stage in STAGES:
                draw_bars(axes, by_layer(of_task[of_task["stage"] == stage]), stage)
            layers = range(1, n_layers + 1, -(-n_layers // TICKS))
            axes.set_xticks([*layers, n_layers + 1.5], [*map(str, layers), "tokens"])
            axes.set_ylim(0, 100)
        of_name[0].set_title(TASKS[name].title)
        of_name[-1].set_xlabel("Layer")
    for line in panels:
        for row, title in zip(line, QUERIES.values(), strict=True):
            row[0].set_ylabel(f"{title}\nAttention, %")
    looks, stages = [LOOKS[kind] for kind in (*STACKED, "other")], colours.STAGES.values()
    handles = [Patch(color=look.colour, label=look.name) for look in looks]
    for look in stages:
        style = {"fc": look.colour, "hatch": look.hatch, "ec": colours.WHITE, "lw": 0}
        handles.append(Patch(label=look.name, **style))
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
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
    of_kind = {kind: LOOKS[kind].name if kind in LOOKS else kind for kind in KINDS}
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
