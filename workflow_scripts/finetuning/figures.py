"""The figures of Kovaleva et al. 2019, sections 4.3 to 4.5, 5 and appendix A; the table of 4.5."""

import textwrap
from collections.abc import Sequence
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
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.finetuning_tables import STAGES
from workflow_scripts.finetuning.token_kinds import KINDS, LINGUISTIC

SIMILARITY_ROWS = {"similarity": "Real tokens", "padded": "Padded"}


def kovaleva2019_fig5(
    similarity: list[Path], padded: list[Path], svg: Out, pdf: Out, png: Out
) -> None:
    """Draw a heat map per task, the mean over seeds; darker means a greater change.

    With similarities of `padded` maps a second row, in colours of its own.
    """
    columns = ("layer", "head", "task", "similarity")
    frames = {"similarity": tables.read_all(similarity, columns)}
    if padded:
        frames["padded"] = tables.read_all(padded, columns)
    names = present_tasks(frames["similarity"])
    titles = [TASKS[name].title for name in names]
    grids = {
        row: [heatmaps.grid_of(frame[frame["task"] == name], "similarity") for name in names]
        for row, frame in frames.items()
    }
    with figures.style():
        rows = [SIMILARITY_ROWS[row] for row in grids] if padded else [""]
        figure, panels = heatmaps.sheet(rows, titles, grids["similarity"][0].shape)
        for cells, of_row in zip(panels, grids.values(), strict=True):
            low = min(grid.min() for grid in of_row)
            for axes, grid in zip(cells, of_row, strict=True):
                image = heatmaps.draw(axes, grid, low, 1.0, colours.MORE + "_r")
            heatmaps.bar(image, cells, "Cosine similarity")
        over = figures.sample(frames["similarity"], "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


SPECIAL_ROWS = {"sep": "[SEP]", "cls": "[CLS]"}


def kovaleva2019_fig6(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a heat map per task and token, the mean over seeds, all on one scale from 0.

    Darker means more attention.
    """
    columns = ("layer", "head", "kind", "attention", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "all")]
    names = present_tasks(frame)
    grids = {
        (kind, name): heatmaps.grid_of(
            frame[(frame["kind"] == kind) & (frame["task"] == name)], "attention"
        )
        for kind in SPECIAL_ROWS
        for name in names
    }
    shape = next(iter(grids.values())).shape
    largest = {kind: max(grids[kind, name].max() for name in names) for kind in SPECIAL_ROWS}
    top = max(largest.values())
    rows = [f"{SPECIAL_ROWS[kind]}, max {largest[kind]:.2f}" for kind in SPECIAL_ROWS]
    with figures.style():
        figure, panels = heatmaps.sheet(rows, [TASKS[name].title for name in names], shape)
        for cells, kind in zip(panels, SPECIAL_ROWS, strict=True):
            for axes, name in zip(cells, names, strict=True):
                image = heatmaps.draw(axes, grids[kind, name], 0.0, top)
        heatmaps.bar(image, list(panels.ravel()), "Attention / length", shrink=0.7)
        over = figures.sample(frame[frame["kind"].isin(SPECIAL_ROWS)], "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


def unclear(frame: pd.DataFrame) -> np.ndarray:
    """Where a change may be none: the intervals of before and after overlap, [layer, head].

    Each is the normal interval as wide as the 95% interval over examples (mean over seeds), widened
    so that all heads together hold with 95% (Bonferroni). Intervals of one head's two means that do
    not overlap differ whatever the correlation of the two.
    """
    means, errors = [], []
    for stage in STAGES:
        rows = frame[frame["stage"] == stage]
        low, middle, high = (
            heatmaps.grid_of(rows, name) for name in ("ci_low", "attention", "ci_high")
        )
        means.append(middle)
        errors.append((high - low) / 2)
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / means[0].size) / normal.inv_cdf(0.975)
    return np.abs(means[1] - means[0]) <= wider * (errors[0] + errors[1])


def change(frame: pd.DataFrame) -> np.ndarray:
    """Mean attention after fine-tuning minus before, [layer, head]; NaN where there is none."""
    after, before = (
        heatmaps.grid_of(frame[frame["stage"] == stage], "attention") for stage in STAGES[::-1]
    )
    return after - before


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


def draw_changes(frame: pd.DataFrame) -> Figure:
    """A row of maps for each kind of word, on one scale; a map for each task."""
    shape = (frame["layer"].max() + 1, frame["head"].max() + 1)
    names = present_tasks(frame)
    of_panel = dict(list(frame.dropna(subset=["attention"]).groupby(["kind", "task"])))
    grids = {panel: change(rows) for panel, rows in of_panel.items()}
    none = np.full(shape, np.nan)
    sizes = {(kind, name): np.abs(grid).max() for (kind, name), grid in grids.items()}
    largest = {
        kind: max((size for (of, _), size in sizes.items() if of == kind), default=0)
        for kind in LINGUISTIC
    }
    titles = [f"{kind}\nmax ±{largest[kind]:.2g}" for kind in LINGUISTIC]
    figure, panels = heatmaps.sheet(titles, [TASKS[name].title for name in names], shape)
    for cells, kind in zip(panels, LINGUISTIC, strict=True):
        for axes, name in zip(cells, names, strict=True):
            image = heatmaps.around_zero(axes, grids.get((kind, name), none), largest[kind])
            if (kind, name) not in grids:
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


def kovaleva2019_features(features: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw a heat map per task and kind of word, the mean over seeds; red means more attention.

    The table has the special tokens too.
    """
    columns = ("layer", "head", "kind", "attention", "ci_low", "ci_high", "share", "tokens")
    columns += ("stage", "query", "task", "n", "n_without", "seed")
    frame = tables.read_all(features, columns)
    frame = frame[frame["query"] == "all"]
    tables.write_csv(summary(frame), table)
    with figures.style():
        figures.save(draw_changes(frame[frame["kind"].isin(LINGUISTIC)]), svg, pdf, png)


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
    shown = slice(None) if side else slice(None, -1)
    bottom = np.zeros(len(shares))
    for kind in shares:
        values = 100 * shares[kind].to_numpy()
        axes.bar(
            positions[shown],
            values[shown],
            widths[shown],
            bottom=bottom[shown],
            color=LOOKS[kind].colour,
            hatch=colours.STAGES[stage].hatch,
            edgecolor=colours.WHITE,
            linewidth=0.3,
        )
        bottom += values


def kovaleva2019_shares(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task and query, with the kinds' shares of the tokens next to the layers."""
    columns = ("layer", "kind", "share", "tokens", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    names = present_tasks(frame)
    n_layers = frame["layer"].max() + 1
    with figures.style():
        per_line = min(PER_LINE, len(names))
        lines = -(-len(names) // per_line)
        height = 0.5 + min(1.75 * lines * len(QUERIES), DOWN)
        figure, cells = figures.new(
            figures.TWO_COLUMNS, height, columns=per_line, rows=lines * len(QUERIES)
        )
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
        handles = [Patch(color=LOOKS[kind].colour) for kind in (*STACKED, "other")]
        names = [LOOKS[kind].name for kind in (*STACKED, "other")]
        for stage in STAGES:
            look = colours.STAGES[stage]
            handles.append(Patch(fc=look.colour, hatch=look.hatch, ec=colours.WHITE, lw=0))
            names.append(look.name)
        figure.legend(handles, names, loc="outside upper center", ncols=5)
        figures.save(figure, svg, pdf, png)


def panel_title(rows: pd.DataFrame) -> str:
    """A panel's title: its task, the number of seeds and the widest interval of a cell."""
    name = TASKS[rows["task"].iloc[0]].title
    widest = ((rows["ci_high"] - rows["ci_low"]) / 2).max()
    seeds = figures.counted(rows["seed"].nunique(), "seed")
    return f"{name}\n{seeds}, 95% intervals up to ±{widest:.2f}"


def kind_names(rows: pd.DataFrame) -> list[str]:
    """The kinds of tokens, each with the number of examples that have it."""
    counts = rows.groupby("kind")["n"].max()
    names = [colours.TOKENS[kind].name if kind in colours.TOKENS else kind for kind in KINDS]
    return [f"{name} ({counts.get(kind, 0):.0f})" for kind, name in zip(KINDS, names, strict=True)]


def kovaleva2019_fig7(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task: heads of the last layer over kinds of tokens, the mean over seeds."""
    columns = ("layer", "head", "kind", "attention", "ci_low", "ci_high", "n")
    columns += ("stage", "query", "task", "seed")
    frame = tables.read_all(features, columns)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "cls")]
    frame = frame[frame["layer"] == frame["layer"].max()]
    names = present_tasks(frame)
    high = frame["attention"].max()
    n_heads = frame["head"].max() + 1
    with figures.style():
        titles = [panel_title(frame[frame["task"] == name]) for name in names]
        height = max(1.7, 1.05 + 0.13 * n_heads)
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            grid = rows.pivot_table(index="head", columns="kind", values="attention", dropna=False)
            grid = grid.reindex(columns=KINDS).to_numpy()
            image = axes.imshow(
                grid,
                cmap=colours.MORE,
                vmin=0,
                vmax=high,
                aspect="auto",
                origin="lower",
                rasterized=True,
            )
            axes.set_xticks(range(len(KINDS)), kind_names(rows), rotation=90)
            axes.patch.set(hatch="////", edgecolor=colours.PALE)  # seen where there is no such word
            axes.set_yticks(*heatmaps.ticks(n_heads))
        panels[0].set_ylabel("Head of the last layer")
        heatmaps.bar(image, panels, "Attention from [CLS]")
        figures.save(figure, svg, pdf, png)


def top_heads(
    frame: pd.DataFrame, groups: Sequence[str], measure: str, others: Sequence[str]
) -> pd.DataFrame:
    """The three heads with the largest `measure` in each group, mean over seeds.

    Rows of the groups and heads, with the `measure` among the `others`, columns that stay.
    """
    groups = list(groups)
    keys = [*groups, "layer", "head"]
    mean = frame.groupby(keys, sort=False, as_index=False).mean(numeric_only=True)
    top = mean.dropna(subset=measure).sort_values(measure, ascending=False)
    top = top.groupby(groups, sort=False).head(3)
    ascending = [name != measure for name in (*groups, measure)]
    top = top.sort_values([*groups, measure], ascending=ascending)
    return top.assign(head=head_labels(top))[[*groups, "head", *others]]


LINK_GROUPS = ["task", "stage", "link", "far"]
LINK_COLUMNS = ["attention", "ci_low", "ci_high", "n", "links"]
LINK_COLUMNS += ["neighbours", "neighbours_low", "neighbours_high"]


def kovaleva2019_links(links: list[Path], table: Out) -> None:
    """Write the three heads with most attention along each link, and theirs to neighbours.

    A row each by task, stage, link and distance, means over seeds.
    """
    frame = tables.read_all(links)
    frame["task"] = frame["task"].map({name: task.title for name, task in TASKS.items()})
    tables.write_csv(top_heads(frame, LINK_GROUPS, "attention", LINK_COLUMNS), table)


SHARED_GROUPS = ["task", "stage", "measure"]
SHARED_COLUMNS = ["attention", "others", "excess", "ci_low", "ci_high", "n"]


def kovaleva2019_shared(shared: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw the excess for each task and stage, the mean over seeds, and print the strongest heads.

    The figure has the measure `copy`, the table both.
    """
    columns = (*SHARED_GROUPS, "layer", "head", "attention", "others", "excess", "n")
    frame = tables.read_all(shared, columns)
    top = top_heads(frame, SHARED_GROUPS, "excess", SHARED_COLUMNS)
    titles = {name: task.title for name, task in TASKS.items()}
    tables.write_csv(top.assign(task=top["task"].map(titles)), table)
    frame = frame[frame["measure"] == "copy"].dropna(subset="excess")
    names = present_tasks(frame)
    grids = {
        (stage, name): heatmaps.grid_of(
            frame[(frame["stage"] == stage) & (frame["task"] == name)], "excess"
        )
        for stage in STAGES
        for name in names
    }
    largest = max(np.abs(grid).max() for grid in grids.values())
    shape = next(iter(grids.values())).shape
    with figures.style():
        rows = [stage.capitalize() for stage in STAGES]
        figure, panels = heatmaps.sheet(rows, [titles[name] for name in names], shape)
        for axes, grid in zip(panels.ravel(), grids.values(), strict=True):
            image = heatmaps.around_zero(axes, grid, largest)
        heatmaps.bar(image, panels.ravel(), "Attention to copies minus others")
        over = figures.sample(frame, "examples of each task")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


ROOM = 6.5, 8.5  # inches for all maps on a page, across and down
GAP = 0.08  # between maps, as a share of a map
TOP = 0.25  # the weight from which on the colour is the darkest
LINES = 12  # of a text: 128 tokens have fewer
LETTERS = 16  # of a text, for each inch of the figure's width


def mosaic(patterns: np.ndarray) -> tuple[np.ndarray, int]:
    """All maps [layer, head, query, key] as one image with frames and gaps, and a map's pitch."""
    n_layers, n_heads, length, _ = patterns.shape
    pitch = length + max(1, round(GAP * length))
    image = np.full((n_layers * pitch, n_heads * pitch), np.nan)
    for layer in range(n_layers):
        for head in range(n_heads):
            top, left = layer * pitch, head * pitch
            image[top : top + length, left : left + length] = patterns[layer, head]
    return image, pitch


def draw_grid(axes: Axes, patterns: np.ndarray, title: str) -> AxesImage:
    """Every head's map, layer 1 at the bottom; darker for more attention."""
    n_layers, n_heads, length, _ = patterns.shape
    image, pitch = mosaic(patterns[::-1])
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


def arrangement(n_layers: int, n_heads: int) -> tuple[int, float]:
    """How many of the two grids stand side by side, and the inches for one map.

    They stand above each other where this makes the maps larger and still leaves room on a page.
    """
    across, down = ROOM
    choices = {
        columns: min(across / (columns * n_heads), down / (2 / columns * n_layers))
        for columns in (1, 2)
    }
    return max(choices.items(), key=lambda choice: choice[1])


def sentences(examples: Path, chosen: str, width: float) -> str:
    """The texts of the example, each from a new line, for a figure of `width` inches.

    Of a text at most LINES lines.
    """
    (texts,) = (example.texts for example in read_examples(examples) if example.id == chosen)
    letters = round(LETTERS * width)
    shorter = {"max_lines": LINES, "placeholder": " …"}
    lines = [line for text in texts for line in textwrap.wrap(text, letters, **shorter)]
    return "\n".join(lines)


def kovaleva2019_maps(maps: Path, examples: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both grids: pretrained first, then fine-tuned. `examples` are the task's, with texts."""
    frame = tables.read(maps, ("layer", "head", "query", "key", "weight", "stage", "task"))
    n_layers, n_heads, length = (frame[name].max() + 1 for name in ("layer", "head", "query"))
    columns, cell = arrangement(n_layers, n_heads)
    with figures.style():
        width = min(figures.TWO_COLUMNS, cell * n_heads * columns + 1.0)
        task, example = TASKS[frame["task"].iloc[0]].title, frame["example"].iloc[0]
        texts = sentences(examples, example, width)
        height = (cell * n_layers + 0.45) * (2 // columns) + 0.4 + 0.13 * texts.count("\n")
        figure, axes = figures.new(width, height, columns=columns, rows=2 // columns)
        for panel, stage in zip(axes, frame["stage"].unique(), strict=True):
            shown = draw_grid(panel, _grid(frame[frame["stage"] == stage]), stage.capitalize())
        heatmaps.bar(shown, axes, "Attention weight", shrink=0.4, extend="max")
        figure.suptitle(f"{task}, example {example}, {length} tokens:\n{texts}", fontsize=7)
        figures.save(figure, svg, pdf, png)


def _grid(frame: pd.DataFrame) -> np.ndarray:
    """The weights as [layer, head, query, key]."""
    axes = ["layer", "head", "query", "key"]
    shape = tuple(frame[axis].max() + 1 for axis in axes)
    return frame.sort_values(axes)["weight"].to_numpy().reshape(shape)


if __name__ == "__main__":
    job.run_figure(globals())
