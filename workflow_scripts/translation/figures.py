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
from workflow_scripts.core.plots.colours import STRATEGIES, Look
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

MASKED = ("run", "split", "unit", "mode", "type", "layer", "head", "metric", "score", "effect")


def read_masked(paths: Sequence[Path]) -> pd.DataFrame:
    """BLEU with one head masked (output 0), of every run, on the test set."""
    frame = tables.read_all(paths, MASKED)
    chosen = (frame["unit"] == "head") & (frame["mode"] == "zero") & (frame["metric"] == "bleu")
    return frame[chosen & (frame["split"] == "test")].reset_index(drop=True)


def by_run(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each run, named: the seed of its training, or pretrained."""
    for run, rows in frame.groupby("run", sort=False):
        yield (f"Seed {run}" if str(run).isdigit() else str(run).capitalize()), rows


def unchanged_score(rows: pd.DataFrame) -> str:
    """What a run's scores are over: the unchanged translator's BLEU, and sentences."""
    return f"unchanged {rows['baseline'].mean():.1f} BLEU, n = {rows['n'].max()}"


LEVEL = 0.05  # of p-values, corrected for all heads of a run
MAP = 1.9  # inches of a map's side at most
PAGE = 8.0  # inches for all lines of maps


def draw_grids(frame: pd.DataFrame) -> Figure:
    """A line of maps for each run, one map for each type; all on one scale."""
    runs = list(by_run(frame))
    n_layers, n_heads = frame["layer"].max() + 1, frame["head"].max() + 1
    height = np.clip(MAP * n_layers / n_heads, 1.1, min(MAP, PAGE / len(runs)))
    figure, flat = figures.new(
        figures.TWO_COLUMNS,
        0.6 + (height + 0.15) * len(runs),
        columns=len(ATTENTION_TYPES),
        rows=len(runs),
    )
    panels = np.array(flat, dtype=object).reshape(len(runs), len(ATTENTION_TYPES))
    limit = max(frame["effect"].abs().max(), 0.01)
    for line, (name, rows) in zip(panels, runs, strict=True):
        for axes, kind in zip(line, ATTENTION_TYPES, strict=True):
            heads = rows[rows["type"] == kind]
            grid = heatmaps.grid_of(heads, "effect")
            image = heatmaps.draw(axes, grid, -limit, limit, colours.AROUND_ZERO)
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


def michel2019_translation_grids(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw the change of BLEU on the test set, muted where it is not significant."""
    with figures.style():
        figures.save(draw_grids(read_masked(scores)), svg, pdf, png)


BINS = 20


def draw_histograms(frame: pd.DataFrame) -> Figure:
    """A histogram per run, its heads stacked by type; a line marks the unchanged translator."""
    runs = list(by_run(frame))
    width = figures.TWO_COLUMNS / min(3, max(2, len(runs)))
    titles = [f"{name}\n{unchanged_score(rows)}" for name, rows in runs]
    figure, panels = figures.panels(titles, width, 2.0)
    for axes, (_, rows) in zip(panels, runs, strict=True):
        edges = np.histogram_bin_edges(rows[["score", "baseline"]].to_numpy(), BINS)
        groups = [rows.loc[rows["type"] == kind, "score"] for kind in colours.ATTENTION]
        looks = list(colours.ATTENTION.values())
        axes.hist(
            groups, edges, stacked=True, label=[look.name for look in looks],
            color=[look.colour for look in looks], hatch=[look.hatch for look in looks],
            edgecolor=colours.WHITE, linewidth=0.3,
        )  # fmt: skip
        axes.axvline(
            rows["baseline"].mean(), color=colours.UNCHANGED, linewidth=2, label="unchanged"
        )
        axes.set_xlabel("BLEU without the head")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    panels[0].set_ylabel("Heads")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), columnspacing=1.2)
    return figure


def michel2019_translation_fig1(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw BLEU on the test set with each head masked."""
    with figures.style():
        figures.save(draw_histograms(read_masked(scores)), svg, pdf, png)


POINT_COLUMNS = ("run", "mode", "metric", "type", "layer", "head", "one", "other", "x", "y")
SPLITS = ["validation", "test"]


def plotted_points(points: pd.DataFrame) -> pd.DataFrame:
    """Effects of zero gates on BLEU, on validation and test set, or on test set and domain."""
    points = points[(points["mode"] == "zero") & (points["metric"] == "bleu")]
    first = (points["one"] == SPLITS[0]) & (points["other"] == SPLITS[1])
    return points[first | (points["one"] == SPLITS[1])]


def correlation(pairs: pd.DataFrame, run: str, one: str, other: str) -> str:
    """Pearson's correlation with its interval, and that between halves of the second split."""
    pairs = pairs[(pairs["mode"] == "zero") & (pairs["metric"] == "bleu")]
    pairs = pairs[(pairs["run"] == run) & (pairs["type"] == "all")]
    row = pairs[(pairs["one"] == one) & (pairs["other"] == other)].iloc[0]
    halves = pairs[(pairs["kind"] == "halves") & (pairs["one"] == other)].iloc[0]
    words = f"r {row['pearson']:.2f} ({row['pearson_low']:.2f} to {row['pearson_high']:.2f})"
    return f"{words}\nbetween halves of {other}: {halves['pearson']:.2f}".replace("-", "−")


def draw_points(axes: Axes, points: pd.DataFrame) -> None:
    """Every head's effect on both splits, by type; the one with the largest loss is named."""
    figures.same_scale(axes, points[["x", "y"]].to_numpy(), least=0.1)
    for kind, look in colours.ATTENTION.items():
        rows = points[points["type"] == kind]
        axes.plot(
            rows["x"], rows["y"], ls="", color=look.colour, marker=look.marker, alpha=0.75,
            markeredgewidth=0, label=look.name, zorder=2,
        )  # fmt: skip
    worst = points.loc[points[["x", "y"]].sum(axis=1).idxmin()]
    name = f"{colours.ATTENTION[worst['type']].name} {head_label(worst['layer'], worst['head'])}"
    axes.annotate(name, (worst["x"], worst["y"]), (4, -2), textcoords="offset points", size=7)
    for axis, split in ((axes.xaxis, "one"), (axes.yaxis, "other")):
        axis.set_label_text(f"{points[split].iloc[0]}, n = {points[f'n_{split}'].iloc[0]}")
        axis.set_major_locator(MaxNLocator(5))


def draw_splits(points: pd.DataFrame, pairs: pd.DataFrame) -> Figure:
    """A panel for every run and pair of splits."""
    groups, titles = [], []
    for name, rows in by_run(plotted_points(points)):
        for (one, other), group in rows.groupby(["one", "other"], sort=False):
            groups.append(group)
            titles.append(f"{name}: {correlation(pairs, group['run'].iloc[0], one, other)}")
    width = figures.TWO_COLUMNS / min(3, max(2, len(titles)))  # inches, and the height
    figure, panels = figures.panels(titles, width, width)
    for axes, group in zip(panels, groups, strict=True):
        draw_points(axes, group)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), columnspacing=1.2)
    figure.supxlabel("Change of BLEU with one head masked", fontsize=8)
    return figure


def michel2019_translation_fig2(points: Path, pairs: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the effects of masking each head on two splits."""
    frame = tables.read(points, POINT_COLUMNS)
    table = tables.read_csv(pairs, dtype={"run": str})
    with figures.style():
        figures.save(draw_splits(frame, table), svg, pdf, png)


METRICS = {"bleu": "BLEU", "loss": "Loss, nats per token"}
ORDERS = {
    "importance": STRATEGIES["importance"],
    "score": STRATEGIES["ablation"],
    "random": STRATEGIES["random"],
}
BY = {"importance": "by importance", "score": "by one-head score", "random": "at random"}
CURVE_COLUMNS = (
    "run", "strategy", "scope", "draw", "pruned", "share", "metric", "score", "ci_low", "ci_high",
    "kept", "n",
)  # fmt: skip
MEANS = ["score", "ci_low", "ci_high", "kept"]


def sample(rows: pd.DataFrame) -> str:
    """What curves are over, such as "200 test sentences, 2 runs"."""
    return f"{rows['n'].max()} test sentences, {figures.counted(rows['run'].nunique(), 'run')}"


def over_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Per number of pruned heads: share and MEANS, means over runs and random orders."""
    return rows.groupby("pruned")[["share", *MEANS]].mean()


def line(axes: Axes, rows: pd.DataFrame, look: Look) -> None:
    """Scores over the share of pruned heads, with the mean interval over sentences as a band."""
    means = over_runs(rows)
    ends = means["ci_low"], means["ci_high"]
    figures.line(axes, 100 * means["share"], means["score"], look, look.name, ends)


def michel2019_translation_fig3(curves: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw BLEU, and next to it the teacher-forced loss: a line per order, means over runs."""
    frame = tables.read_all(curves, CURVE_COLUMNS)
    frame = frame[frame["scope"] == "all"]
    titles = [f"{name}\n{sample(frame)}" for name in ("BLEU", "Teacher-forced loss")]
    with figures.style():
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.3)
        for axes, (metric, name) in zip(panels, METRICS.items(), strict=True):
            rows = frame[frame["metric"] == metric]
            for strategy, look in ORDERS.items():
                if (rows["strategy"] == strategy).any():
                    line(axes, rows[rows["strategy"] == strategy], look)
            axes.set_xlabel("Heads pruned, %")
            axes.set_ylabel(name)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


def michel2019_translation_fig4(curves: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per order with a line per type, over the share of that type's heads."""
    frame = tables.read_all(curves, CURVE_COLUMNS)
    frame = frame[frame["metric"] == "bleu"]
    strategies = [name for name in ORDERS if (frame["strategy"] == name).any()]
    titles = [f"Pruned {BY[name]}\n{sample(frame)}" for name in strategies]
    width = figures.TWO_COLUMNS / max(2, len(strategies))
    with figures.style():
        figure, panels = figures.panels(titles, width, 2.2, columns=3)
        for axes, strategy in zip(panels, strategies, strict=True):
            for kind, look in colours.ATTENTION.items():
                rows = frame[(frame["strategy"] == strategy) & (frame["scope"] == kind)]
                line(axes, rows, look)
            axes.sharey(panels[0])
            axes.set_xlabel("Heads of the type pruned, %")
        panels[0].set_ylabel("BLEU")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


KEPT = ["kept", "kept_low", "kept_high"]


def michel2019_translation_fig5(
    training: list[Path], importance: list[Path], svg: Out, pdf: Out, png: Out
) -> None:
    """Draw a line per epoch, means over runs, and name its unpruned BLEU.

    Bands are means over runs of each share's interval over sentences. The legend has the
    correlation of an epoch's importance with the last one's, over heads.
    """
    columns = (*CURVE_COLUMNS, *KEPT, "epoch", "baseline", "heads")
    frame = tables.read_all(training, tuple(dict.fromkeys(columns)))
    frame = frame[frame["metric"] == "bleu"]
    agreement = tables.read_all(importance, ("epoch", "agreement")).groupby("epoch")["agreement"]
    agreement, epochs = agreement.mean(), sorted(frame["epoch"].unique())
    heads = frame["heads"].iloc[0]
    with figures.style():
        title = f"Pruning by importance\n{sample(frame)}"
        figure, [axes] = figures.panels([title], figures.ONE_COLUMN * 1.2, 3.6)
        for epoch, look in zip(epochs, colours.in_order(len(epochs)), strict=True):
            rows = frame[frame["epoch"] == epoch]
            means, bleu = 100 * rows.groupby("pruned")[["share", *KEPT]].mean(), rows["baseline"]
            name = figures.epoch_name(epoch, agreement, f": BLEU {bleu.mean():.1f}")
            ends = means["kept_low"], means["kept_high"]
            figures.line(axes, means["share"], means["kept"], look, name, ends)
        axes.set_xlabel(f"Heads pruned, % of {heads}")
        axes.set_ylabel("BLEU, % of that without pruning")
        figures.epoch_legend(axes, heads, -0.2, epochs=epochs)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
