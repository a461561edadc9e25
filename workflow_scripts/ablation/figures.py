"""The figures of heads and layers disabled (Kovaleva et al. 2019, 4.6; Michel et al. 2019)."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from workflow_scripts.ablation.ablation_attribution import IMPORTANCE
from workflow_scripts.ablation.head_behaviour import FEWEST_HEADS
from workflow_scripts.ablation.measures import set_title
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import KINDS, head_label, rows_of_kind
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.randomisation import LEVEL

Panels = list[tuple[Axes, pd.DataFrame]]  # each with the rows of its task


def in_table1(metrics: pd.DataFrame, task: str, n: int) -> str:
    """A line on the unchanged model's score in Table 1, where it is of more examples than `n`."""
    wanted = {"stage": "fine-tuned", "split": "dev", "task": TASKS[task].title}
    wanted |= {"metric": TASKS[task].main_metric}
    rows = metrics[(metrics[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    if (rows["n"] == n).all():
        return ""
    return f"\n(Table 1: {100 * rows['value'].mean():.1f}, n = {rows['n'].max()})"


def task_panels(frame: pd.DataFrame, height: float) -> tuple[Figure, Panels]:
    """A panel of a third of a page for each task, named with what its scores are over."""
    parts, titles = {name: frame[frame["task"] == name] for name in present_tasks(frame)}, []
    for name, rows in parts.items():
        seeds = figures.counted(rows["seed"].nunique(), "seed")
        over = f"unchanged {100 * rows['baseline'].mean():.1f}, n = {rows['n'].max()}, {seeds}"
        titles.append(f"{effects.title_of(name)}\n{over}")
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height)
    return figure, list(zip(panels, parts.values(), strict=True))


@figures.drawn
def kovaleva2019_fig8(scores: list[Path], metrics: list[Path]) -> Figure:
    """Every head's change of the score in points, with its paired interval; a panel for each task.

    Means over seeds; significant is what is so with every seed. `metrics` are the classifiers'
    scores on all development examples.
    """
    frame = effects.main_rows(effects.read_scores(scores, "head"), "uniform")
    whole = tables.read_all(metrics)
    figure, panels = task_panels(frame, 2.0)
    for axes, rows in panels:
        axes.axhline(0, color=colours.UNCHANGED, linewidth=1, label="unchanged model", zorder=1)
        more = in_table1(whole, rows["task"].iloc[0], rows["n"].max())
        axes.set_title(axes.get_title() + more, fontsize=7)
    panels[0][0].set_ylabel("Change of the\nscore, points")
    figures.ranked(figure, [(axes, in_points(rows)) for axes, rows in panels], "effect", LEVEL)
    return figure


def in_points(of_task: pd.DataFrame) -> pd.DataFrame:
    """A task's rows over seeds, scores and effects in points, p-values the largest of a seed."""
    rows = effects.over_seeds(of_task)
    columns = ["score", "effect", "ci_low", "ci_high"]
    largest = of_task.groupby(["layer", "head"], sort=False)["p_corrected"].max().to_numpy()
    return rows.assign(**100 * rows[columns], p_corrected=largest)


@figures.drawn
def kovaleva2019_fig9(scores: list[Path]) -> Figure:
    """A point per layer, the mean over seeds, with the paired interval of the effect."""
    scored = effects.main_rows(effects.read_scores(scores, "layer"), "uniform")
    height = 0.95 + min(0.12 * scored["layer"].nunique(), 1.8)
    figure, panels = task_panels(scored, max(1.5, height))
    look = colours.Look("one layer disabled", colours.NEUTRAL)
    for axes, of_task in panels:
        rows = effects.over_seeds(of_task).sort_values("layer")
        effect, low, high = (100 * rows[name] for name in ("effect", "ci_low", "ci_high"))
        axes.axvline(0, color=colours.UNCHANGED, linewidth=2, label="unchanged model", zorder=1)
        style = {"elinewidth": 0.8, "capsize": 1.5, "zorder": 2}
        figures.intervals(axes, "x", effect, (low, high), rows["layer"] + 1, look, **style)
        axes.yaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
        axes.set(xlabel="Change of the score, points", ylim=(0.4, rows["layer"].max() + 1.6))
    first = panels[0][0]
    first.set_ylabel("Layer")
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


MEAN_NOTE = f"mean of a kind with {FEWEST_HEADS} heads or more, 95% interval over its heads"
POINT = {"linestyle": "", "marker": "o", "markeredgecolor": colours.GREY, "markeredgewidth": 0.3}
MEAN = {"fmt": "D", "color": colours.BLACK, "markersize": 3.5, "capsize": 2}


def draw_behaviour(axes: Axes, x: float, values: np.ndarray, means: pd.Series, colour: str) -> None:
    """The effects of a kind's heads, in points, and their mean with an interval."""
    rng = np.random.default_rng(0)  # of the jitter that keeps points from hiding each other
    jittered = x + rng.uniform(-0.22, 0.22, len(values))
    axes.plot(jittered, values, color=colour, zorder=2, **POINT)
    if len(values) < FEWEST_HEADS:
        return
    ends = [[means["effect"] - means["ci_low"]], [means["ci_high"] - means["effect"]]]
    axes.errorbar(x, 100 * means["effect"], 100 * np.array(ends), zorder=3, **MEAN)


@figures.drawn
def kovaleva2019_heads(heads: Path, strata: Path) -> Figure:
    """A panel per task: the effect of disabling each head, a point over each of its kinds."""
    effects_of_heads, means = tables.read_csv(heads), tables.read_csv(strata)
    tasks = list(dict.fromkeys(means["task"]))
    members = {name: rows_of_kind(effects_of_heads, name) for name in KINDS}
    shown = [name for name in KINDS if members[name].any()]
    titles = [effects.title_of(name) for name in tasks]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        of_task = means[means["task"] == task].set_index("stratum")
        for column, name in enumerate(shown):
            values = 100 * effects_of_heads.loc[members[name], f"effect_{task}"].to_numpy()
            draw_behaviour(axes, column, values, of_task.loc[name], colours.HEADS[name].colour)
        ticks = [f"{name} ({members[name].sum()})" for name in shown]
        axes.set_xticks(range(len(shown)), ticks, rotation=35, ha="right")
    panels[0].set_ylabel("Change, points")
    keys = [
        Line2D([], [], color=colours.WHITE, label="one head, in each of its kinds", **POINT),
        Line2D([], [], color=colours.BLACK, marker="D", markersize=3.5, label=MEAN_NOTE),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=2)
    return figure


@figures.drawn
def michel2019_fig1(scores: list[Path]) -> Figure:
    """A panel of heads' scores per task, means over seeds; a line marks the unchanged model."""
    scored = effects.main_rows(effects.read_scores(scores, "head"), "zero")
    figure, panels = task_panels(scored, 2.0)
    for axes, of_task in panels:
        baseline = 100 * of_task["baseline"].mean()
        axes.axhline(baseline, color=colours.UNCHANGED, linewidth=1, label="unchanged model")
    panels[0][0].set_ylabel("Score without\nthe head, points")
    figures.ranked(figure, [(axes, in_points(rows)) for axes, rows in panels], "score", LEVEL)
    return figure


COMPARED = ("datasets", "tasks", "halves")
MATRIX_NOTE = (
    "Pearson's r below the diagonal, Spearman's ρ above it, with 95% intervals; bold: 0 excluded"
)
HALVES_NOTE = "Framed: r between two halves of one data set, and the range of 95% of the divisions"
ROOM = 5.3, 0.72  # inches for all columns of the matrix, and at most for one
WIDE = 0.62  # inches from which a column holds an interval in one line
PER_LINE, LINE = 4, 2.1  # scatter plots next to each other, and inches of their height
DARK = 0.6  # correlation from which text on its colour is white
# The first development set of each task, by the task's title.
FIRST_SETS = {task.title: set_title(name, "dev") for name, task in TASKS.items()}


def development_sets(row: pd.Series) -> tuple[str, str]:
    """The two development sets of a pair (one of them for halves), each named with its task."""
    if row["kind"] == "tasks":
        return FIRST_SETS[row["one"]], FIRST_SETS[row["other"]]
    if row["kind"] == "halves":
        return row["one"], row["one"]
    return row["one"], f"{row['one'].split(' ')[0]} {row['other']}"


def data_sets(pairs: pd.DataFrame) -> list[str]:
    """All development sets of the pairs' columns `a` and `b`: by task, its first set first."""
    names = list(dict.fromkeys(pairs[["a", "b"]].to_numpy().ravel()))
    titles = {task.title: number for number, task in enumerate(TASKS.values())}
    firsts = FIRST_SETS.values()
    return sorted(names, key=lambda name: (titles[name.split(" ")[0]], name not in firsts))


def draw_matrix(axes: Axes, pairs: pd.DataFrame, width: float) -> None:
    """Both correlations of every pair with intervals, halves on the diagonal; `width` in inches."""
    names = data_sets(pairs)
    grid = np.full((len(names), len(names)), np.nan)
    for row in pairs.itertuples():
        one, other = sorted((names.index(row.a), names.index(row.b)))
        grid[other, one] = row.pearson
        _write(axes, other, one, (row.pearson, row.pearson_low, row.pearson_high), width)
        if one == other:
            corner = (one - 0.5, one - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, lw=1.2, zorder=3))
            continue
        grid[one, other] = row.spearman
        _write(axes, one, other, (row.spearman, row.spearman_low, row.spearman_high), width)
    image = axes.imshow(grid, cmap=colours.AROUND_ZERO, vmin=-1, vmax=1, aspect="auto")
    if width >= WIDE:
        axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    else:
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.grid(which="minor", color=colours.WHITE, linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="Correlation over heads", aspect=25, pad=0.01)


def _write(
    axes: Axes, row: int, column: int, found: tuple[float, float, float], width: float
) -> None:
    """A correlation and, below it, its interval, in one cell."""
    value, low, high = found
    if np.isnan(value):
        return
    ink = colours.WHITE if abs(value) > DARK else colours.BLACK
    bold = "bold" if low > 0 or high < 0 else "normal"
    axes.text(column, row - 0.02, _number(value), ha="center", va="bottom", color=ink, weight=bold)
    ends = f"{_number(low)} to{' ' if width >= WIDE else chr(10)}{_number(high)}"
    style = {"color": ink, "size": figures.SMALL, "linespacing": 0.95}
    axes.text(column, row + 0.02, ends, ha="center", va="top", **style)


def _number(value: float) -> str:
    """Two decimals, with a minus sign, and without one before 0."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def draw_points(axes: Axes, points: pd.DataFrame, pair: pd.Series) -> None:
    """Every head's effect on both sets of a pair, larger where several coincide."""
    x, y = (100 * points[name].to_numpy(dtype=float) for name in "xy")
    figures.same_scale(axes, np.stack([x, y]), least=1)
    positions, counts = np.unique(np.round(np.stack([x, y]), 9), axis=1, return_counts=True)
    axes.scatter(*positions, s=7 * counts, color=colours.NEUTRAL, alpha=0.7, linewidth=0, zorder=2)
    worst = int(np.argmin(x + y))
    name = head_label(points["layer"].iloc[worst], points["head"].iloc[worst])
    axes.annotate(name, (x[worst], y[worst]), (4, -2.5), textcoords="offset points", size=7)
    axes.set_title(f"r {_number(pair['pearson'])}, ρ {_number(pair['spearman'])}")
    axes.set(xlabel=pair["a"], ylabel=pair["b"])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))


@figures.drawn
def michel2019_fig2(points: Path, table: Path) -> Figure:
    """All pairs' correlations; below, points of a task's first development set and another.

    Data sets whose own halves do not agree are named and left out, unless there are no others.
    """
    pairs = tables.read_csv(table)
    pairs = pairs[(pairs["mode"] == "zero") & pairs["kind"].isin(COMPARED)]
    sets = [development_sets(row) for _, row in pairs.iterrows()]
    pairs = pairs.assign(a=[one for one, _ in sets], b=[other for _, other in sets])
    halves = pairs[pairs["kind"] == "halves"].set_index("a")["pearson"]
    noisy = halves[halves <= 0]
    kept = pairs[~pairs[["a", "b"]].isin(noisy.index).any(axis=1)]
    left_out = ""
    if len(noisy) and len(kept):
        pairs = kept
        names = ", ".join(f"{name} ({_number(value)})" for name, value in noisy.items())
        left_out = f"\nLeft out, as r between its halves is not above 0: {names}."
    scatters = pairs[(pairs["kind"] == "datasets") & pairs["a"].isin(FIRST_SETS.values())]
    n, lines = len(data_sets(pairs)), -(-len(scatters) // PER_LINE)
    column = min(ROOM[1], ROOM[0] / n)
    heights = 0.75 + n * (0.36 if column >= WIDE else 0.46), LINE * lines
    figure = Figure(figsize=(figures.TWO_COLUMNS, sum(heights)), layout="constrained")
    above: Figure | SubFigure = figure
    if lines:
        above, below = figure.subfigures(2, 1, height_ratios=heights)
        cells = below.subplots(lines, min(PER_LINE, len(scatters)), squeeze=False).ravel()
        for axes in cells[len(scatters) :]:
            axes.remove()
        keys = ["kind", "mode", "one", "other"]
        of_pairs = dict(list(tables.read(points).groupby(keys)))
        for axes, (_, pair) in zip(cells, scatters.iterrows(), strict=False):
            draw_points(axes, of_pairs[tuple(pair[keys])], pair)
        heads = scatters["n"].iloc[0]
        words = f"Effect of masking each of {heads} heads, in points; area: number of heads"
        below.suptitle(words, fontsize=7)
    axes = above.subplots()
    axes.set_title(f"{MATRIX_NOTE}.\n{HALVES_NOTE}.{left_out}", fontsize=7)
    draw_matrix(axes, pairs, column)
    return figure


MAPS = {"head": "one head", "all-but-one": "one head left", "key-value group": "one group"}
NUMBERS = ["nats", "baseline", "effect", "ci_low", "ci_high", "p", "p_corrected"]
NUMBERS += ["p_corrected_error"]


def every_variant(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per variant, by unit and mode, the largest loss first; layers and heads from 1."""
    rows = scores.sort_values("effect", ascending=False, kind="stable")
    rows = rows.sort_values(["unit", "mode"], kind="stable")
    names = [
        f"layer {layer + 1}" if head < 0 else head_label(layer, head)
        for layer, head in zip(rows["layer"], rows["head"], strict=True)
    ]
    columns = ["unit", "mode", "name", *NUMBERS, "n", "n_documents", "n_tokens"]
    return rows.assign(name=names)[columns]


@figures.drawn
def ablation_next_token(scores: Path, table: job.Out) -> Figure:
    """A map of each unit of heads, zeroed, on a scale of its own, and a table of all modes."""
    frame = tables.read(scores)
    tables.write_csv(every_variant(frame), table)
    rows = frame[frame["mode"] == "zero"]
    units = [unit for unit in MAPS if (rows["unit"] == unit).any()]
    of = figures.sample(rows, "segments", "documents")
    height = 1.2 + 0.09 * rows["layer"].max()
    titles = [f"{MAPS[unit]} disabled" for unit in units]
    titles = [title.replace("left disabled", "left in its layer") for title in titles]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
    figure.set_figheight(figure.get_figheight() + 0.5)
    for axes, unit in zip(panels, units, strict=True):
        chosen = rows[rows["unit"] == unit]
        image = heatmaps.around_zero(axes, heatmaps.grid_of(chosen, "effect"))
        heatmaps.mute(axes, image, ~(heatmaps.grid_of(chosen, "p_corrected") < LEVEL))
        heatmaps.bar(image, [axes], "Change, nats per token")
        axes.set(xlabel="Key-value head" if unit == "key-value group" else "Head", ylabel="Layer")
    figure.suptitle(f"Intact: {rows['baseline'].iloc[0]:.2f} nats per token; {of}", fontsize=7)
    words = f"not significant: p ≥ {LEVEL}, corrected for all of a map"
    figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
    return figure


RANKED = {
    False: colours.Look("other heads", colours.GREY),
    True: colours.Look("first by the estimate", colours.BLACK),
}


def task_title(task: str) -> str:
    """A task's title; decoders read running text."""
    return TASKS[task].title if task in TASKS else "Running text"


NAMED = 3  # heads of a panel with the largest effects


@figures.drawn
def ablation_attribution_figure(heads: Path) -> Figure:
    """A row of panels per task, a panel per estimate; a point per head and seed."""
    frame = tables.read_csv(heads)
    tasks, estimates = (list(dict.fromkeys(frame[name])) for name in ("task", "estimate"))
    estimates = sorted(estimates, key=lambda name: name == IMPORTANCE)
    columns = len(estimates)
    cells = [(task, name) for task in tasks for name in estimates]
    titles = [f"{task_title(task)}, {name}" for task, name in cells]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / columns, 2.2, columns=columns)
    for axes, (task, name) in zip(panels, cells, strict=True):
        rows = frame[(frame["task"] == task) & (frame["estimate"] == name)]
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        ends = rows["attribution"].min(), rows["attribution"].max()
        if name != IMPORTANCE:  # the estimate equals the effect on this line
            axes.plot(ends, ends, color=colours.GUIDE, linewidth=0.6, zorder=1)
        for first, look in RANKED.items():
            points = rows[rows["first"] == first]
            style = {"color": look.colour, "s": 5, "linewidths": 0, "zorder": 2}
            axes.scatter(points["attribution"], points["effect"], label=look.name, **style)
        rho = _number(rows.groupby("seed")["rho"].first().mean())
        axes.set_title(f"{axes.get_title()}\nρ {rho}, n = {rows['n'].max()}")
        axes.locator_params(nbins=4)
        axes.margins(x=0.07, y=0.15)  # room for names
    for axes in panels[::columns]:
        axes.set_ylabel("Effect on the\nloss, nats")
    for axes in panels[-columns:]:
        axes.set_xlabel("Estimate, nats")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    for axes, (task, name) in zip(panels, cells, strict=True):
        rows = frame[(frame["task"] == task) & (frame["estimate"] == name)]
        named = rows.loc[rows["effect"].abs().nlargest(NAMED).index]
        points, places = (each[["attribution", "effect"]].to_numpy() for each in (rows, named))
        figures.write_names(axes, list(map(tuple, places)), named["name"], points)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
