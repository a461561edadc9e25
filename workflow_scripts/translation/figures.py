"""The figures of a translator's heads, masked and pruned (Michel et al. 2019, sections 3 to 6)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import ATTENTION_TYPES, head_label
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job


def read_masked(paths: Sequence[Path]) -> pd.DataFrame:
    """BLEU with one head masked (output 0), of every run, on the test set."""
    wanted = {"unit": "head", "mode": "zero", "metric": "bleu", "split": "test"}
    return tables.where(tables.read_all(paths), **wanted).reset_index(drop=True)


def by_run(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each run, named: the seed of its training, or pretrained."""
    for run, rows in frame.groupby("run", sort=False):
        yield (f"Seed {run}" if str(run).isdigit() else str(run).capitalize()), rows


def unchanged_score(rows: pd.DataFrame) -> str:
    """What a run's scores are over: the unchanged translator's BLEU, and sentences."""
    return f"unchanged {rows['baseline'].mean():.1f} BLEU, n = {rows['n'].max()}"


def write_legend(figure: Figure, axes: Axes) -> None:
    """The types of attention, in one line above all panels."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), columnspacing=1.2)


LEVEL = 0.05  # of p-values, corrected for all heads of a run
MAP = 1.9  # inches of a map's side at most
PAGE = 8.0  # inches for all lines of maps


@figures.drawn
def michel2019_translation_grids(scores: list[Path]) -> Figure:
    """A line of maps for each run, one map for each type; all on one scale.

    Heads whose change of BLEU is not significant are muted.
    """
    frame = read_masked(scores)
    runs = list(by_run(frame))
    n_layers, n_heads = frame["layer"].max() + 1, frame["head"].max() + 1
    height = np.clip(MAP * n_layers / n_heads, 1.1, min(MAP, PAGE / len(runs)))
    size = figures.TWO_COLUMNS, 0.6 + (height + 0.15) * len(runs)
    figure, flat = figures.new(*size, columns=len(ATTENTION_TYPES), rows=len(runs))
    panels = np.array(flat, dtype=object).reshape(len(runs), len(ATTENTION_TYPES))
    limit = max(frame["effect"].abs().max(), 0.01)
    for line, (name, rows) in zip(panels, runs, strict=True):
        for axes, kind in zip(line, ATTENTION_TYPES, strict=True):
            heads = rows[rows["type"] == kind]
            scale = -limit, limit, colours.OF_SCORES
            image = heatmaps.draw(axes, heatmaps.grid_of(heads, "effect"), *scale)
            heatmaps.mute(axes, image, heatmaps.grid_of(heads, "p_corrected") >= LEVEL)
        about = unchanged_score(rows).replace(", ", "\n")
        line[0].set_ylabel(f"{name}\n{about}\nLayer", fontsize=7)
    for axes, title in zip(panels[0], ATTENTION_TYPES.values(), strict=True):
        axes.set_title(title)
    for axes in panels[-1]:
        axes.set_xlabel("Head")
    heatmaps.bar(image, flat, "Change of BLEU")
    words = f"not significant: p ≥ {LEVEL}, corrected for the {len(rows)} heads of a seed"
    figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
    return figure


@figures.drawn
def michel2019_translation_fig1(scores: list[Path]) -> Figure:
    """BLEU with each head masked, a panel per run; a line marks the unchanged translator."""
    runs = list(by_run(read_masked(scores)))
    width = figures.TWO_COLUMNS / min(3, max(2, len(runs)))
    titles = [f"{name}\n{unchanged_score(rows)}" for name, rows in runs]
    figure, panels = figures.panels(titles, width, 2.2)
    for axes, (_, rows) in zip(panels, runs, strict=True):
        baseline = rows["baseline"].mean()
        axes.axhline(baseline, color=colours.UNCHANGED, linewidth=1, label="unchanged")
    panels[0].set_ylabel("BLEU without the head")
    dots = [(axes, rows) for axes, (_, rows) in zip(panels, runs, strict=True)]
    figures.ranked(figure, dots, "score", LEVEL, "type", colours.ATTENTION)
    return figure


SPLITS = ["validation", "test"]


def plotted_points(points: pd.DataFrame) -> pd.DataFrame:
    """Effects of zero gates on BLEU, on validation and test set, or on test set and domain."""
    points = points[(points["mode"] == "zero") & (points["metric"] == "bleu")]
    first = (points["one"] == SPLITS[0]) & (points["other"] == SPLITS[1])
    return points[first | (points["one"] == SPLITS[1])]


def correlation(pairs: pd.DataFrame, run: str, one: str, other: str) -> str:
    """Pearson's correlation with its interval, and that between halves of the second split."""
    pairs = tables.where(pairs, mode="zero", metric="bleu", run=run, type="all")
    row = tables.where(pairs, one=one, other=other).iloc[0]
    halves = tables.where(pairs, kind="halves", one=other).iloc[0]
    words = f"r {row['pearson']:.2f} ({row['pearson_low']:.2f} to {row['pearson_high']:.2f})"
    return f"{words}\nbetween halves of {other}: {halves['pearson']:.2f}".replace("-", "−")


def draw_points(axes: Axes, points: pd.DataFrame) -> None:
    """Every head's effect on both splits, by type; the one with the largest loss is named."""
    figures.same_scale(axes, points[["x", "y"]].to_numpy(), least=0.1)
    for kind, look in colours.ATTENTION.items():
        rows = points[points["type"] == kind]
        style = {"color": look.colour, "marker": look.marker, "label": look.name}
        axes.plot(rows["x"], rows["y"], ls="", alpha=0.75, markeredgewidth=0, zorder=2, **style)
    worst = points.loc[points[["x", "y"]].sum(axis=1).idxmin()]
    name = f"{colours.ATTENTION[worst['type']].name} {head_label(worst['layer'], worst['head'])}"
    axes.annotate(name, (worst["x"], worst["y"]), (4, -2), textcoords="offset points", size=7)
    for axis, split in ((axes.xaxis, "one"), (axes.yaxis, "other")):
        axis.set_label_text(f"{points[split].iloc[0]}, n = {points[f'n_{split}'].iloc[0]}")
        axis.set_major_locator(MaxNLocator(5))


@figures.drawn
def michel2019_translation_fig2(points: Path, pairs: Path) -> Figure:
    """The effects of masking each head: a panel for every run and pair of splits."""
    table, groups, titles = tables.read_csv(pairs, dtype={"run": str}), [], []
    for name, rows in by_run(plotted_points(tables.read(points))):
        for (one, other), group in rows.groupby(["one", "other"], sort=False):
            groups.append(group)
            titles.append(f"{name}: {correlation(table, group['run'].iloc[0], one, other)}")
    width = figures.TWO_COLUMNS / min(3, max(2, len(titles)))  # inches, and the height
    figure, panels = figures.panels(titles, width, width)
    for axes, group in zip(panels, groups, strict=True):
        draw_points(axes, group)
    write_legend(figure, panels[0])
    figure.supxlabel("Change of BLEU with one head masked", fontsize=8)
    return figure


METRICS = {"bleu": "BLEU", "loss": "Loss, nats per token"}
ORDERS = {
    "importance": colours.STRATEGIES["importance"],
    "score": colours.STRATEGIES["ablation"],
    "random": colours.STRATEGIES["random"],
}
BY = {"importance": "by importance", "score": "by one-head score", "random": "at random"}


def sample(rows: pd.DataFrame) -> str:
    """What curves are over, such as "200 test sentences, 2 runs"."""
    return f"{rows['n'].max()} test sentences, {figures.counted(rows['run'].nunique(), 'run')}"


def line(axes: Axes, rows: pd.DataFrame, look: colours.Look) -> None:
    """Scores over the share of pruned heads, with the mean interval over sentences as a band.

    All are means over runs and random orders.
    """
    means = rows.groupby("pruned")[["share", "score", "ci_low", "ci_high"]].mean()
    ends = means["ci_low"], means["ci_high"]
    figures.line(axes, 100 * means["share"], means["score"], look, look.name, ends)


@figures.drawn
def michel2019_translation_fig3(curves: list[Path]) -> Figure:
    """BLEU, and next to it the teacher-forced loss: a line per order, means over runs."""
    frame = tables.read_all(curves)
    frame = frame[frame["scope"] == "all"]
    titles = [f"{name}\n{sample(frame)}" for name in ("BLEU", "Teacher-forced loss")]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.3)
    for axes, (metric, name) in zip(panels, METRICS.items(), strict=True):
        rows = frame[frame["metric"] == metric]
        for strategy, look in ORDERS.items():
            if (rows["strategy"] == strategy).any():
                line(axes, rows[rows["strategy"] == strategy], look)
        axes.set_xlabel("Heads pruned, %")
        axes.set_ylabel(name)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@figures.drawn
def michel2019_translation_fig4(curves: list[Path]) -> Figure:
    """A panel per order with a line per type, over the share of that type's heads."""
    frame = tables.read_all(curves)
    frame = frame[frame["metric"] == "bleu"]
    strategies = [name for name in ORDERS if (frame["strategy"] == name).any()]
    titles = [f"Pruned {BY[name]}\n{sample(frame)}" for name in strategies]
    width = figures.TWO_COLUMNS / max(2, len(strategies))
    figure, panels = figures.panels(titles, width, 2.2, columns=3)
    for axes, strategy in zip(panels, strategies, strict=True):
        for kind, look in colours.ATTENTION.items():
            line(axes, frame[(frame["strategy"] == strategy) & (frame["scope"] == kind)], look)
        axes.sharey(panels[0])
        axes.set_xlabel("Heads of the type pruned, %")
    panels[0].set_ylabel("BLEU")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@figures.drawn
def michel2019_translation_fig5(training: list[Path], importance: list[Path]) -> Figure:
    """A line per epoch, means over runs, named with its unpruned BLEU.

    Bands are means over runs of each share's interval over sentences. The legend has the
    correlation of an epoch's importance with the last one's, over heads.
    """
    frame = tables.read_all(training)
    frame = frame[frame["metric"] == "bleu"]
    agreement = tables.read_all(importance).groupby("epoch")["agreement"].mean()
    epochs, heads = sorted(frame["epoch"].unique()), frame["heads"].iloc[0]
    title = f"Pruning by importance\n{sample(frame)}"
    figure, [axes] = figures.panels([title], figures.ONE_COLUMN * 1.2, 3.6)
    for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
        rows = frame[frame["epoch"] == epoch]
        columns = ["share", "kept", "kept_low", "kept_high"]
        means = 100 * rows.groupby("pruned")[columns].mean()
        name = figures.epoch_name(epoch, agreement, f": BLEU {rows['baseline'].mean():.1f}")
        ends = means["kept_low"], means["kept_high"]
        figures.line(axes, means["share"], means["kept"], look, name, ends)
    axes.set_xlabel(f"Heads pruned, % of {heads}")
    axes.set_ylabel("BLEU, % of that without pruning")
    figures.epoch_legend(axes, heads, -0.2, epochs=epochs)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
