"""The figures of norms and mixing ratios (Kobayashi et al. 2020 and 2021)."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job

KEYS = ["layer", "head", "target"]
SHOWN = ("cls", "first", "sep", "punctuation")  # of the targets, those that a model has


def joined(weights: pd.DataFrame, norms: pd.DataFrame) -> pd.DataFrame:
    """One row per head and target: `weight` and `norm`, each with its interval, as shares."""
    names = {"attention": "", "ci_low": "_low", "ci_high": "_high"}
    parts = [
        frame[[*KEYS, *names]].rename(columns={old: f"{name}{end}" for old, end in names.items()})
        for name, frame in (("weight", weights), ("norm", norms))
    ]
    counts = weights[[*KEYS, "n", "n_documents", "uniform"]]
    return parts[0].merge(parts[1], on=KEYS, validate="1:1").merge(counts, on=KEYS)


@figures.drawn
def kobayashi2020_norms(weights: Path, norms: Path, table: job.Out) -> Figure:
    """A panel per target: a point per head and a line through the layers' means, both ways.

    The table has a row per head and target, in percent.
    """
    frame = joined(tables.read(weights), tables.read(norms))
    shown = [target for target in SHOWN if target in set(frame["target"])]
    figure, panels = figures.new(figures.ONE_COLUMN * 1.15, 2.2 * len(shown), rows=len(shown))
    for panel, target in zip(panels, shown, strict=True):
        rows = frame[frame["target"] == target]
        for number, (way, look) in enumerate(colours.WAYS.items()):
            shift = figures.shift_of(number, len(colours.WAYS))
            figures.per_layer(panel, rows["layer"], rows[way], look, shift)
        figures.layer_axis(panel, frame["layer"].max() + 1)
        panel.set_ylabel(f"to {colours.TOKENS[target].name}")
        panel.yaxis.set_major_formatter(PercentFormatter(1))
        panel.set_ylim(bottom=-0.02)
        panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    numbers = [f"{way}{end}" for way in colours.WAYS for end in ("", "_low", "_high")]
    numbers.append("uniform")
    frame[numbers] *= 100
    columns = ["target", "head", *numbers, "n", "n_documents"]
    percent = frame.assign(head=head_labels(frame)).round(dict.fromkeys(numbers, 2))
    tables.write_csv(percent[columns], table)
    return figure


@figures.drawn
def kobayashi2021_mixing(ratios: Path) -> Figure:
    """A line per method with a band for its interval; a dotted line where parts are equal."""
    figure, axes = _by_layer(ratios, "method", "ratio", colours.PRESERVING)
    axes.axhline(50, color=colours.GUIDE, linestyle=":", linewidth=1.0)
    axes.set(ylabel="Mixing ratio (%)", ylim=(0, 100))
    return figure


@figures.drawn
def mohebbi2023_zeroing(scores: Path) -> Figure:
    """How often weights and norms put the same token first as value zeroing, with intervals."""
    looks = {f"top_{way}s": look for way, look in colours.WAYS.items()}
    figure, axes = _by_layer(scores, "measure", "value", looks, factor=100)
    axes.set(ylabel="Same first token (%)", ylim=(-2, 102))
    return figure


def _by_layer(
    path: Path, name: str, number: str, looks: dict[str, colours.Look], factor: float = 1
) -> tuple[Figure, Axes]:
    """A line per entry of `looks` with a band for its interval, over the layers of a table."""
    frame = tables.read_csv(path, dtype={"layer": str})
    of_layers = frame[frame["layer"] != "all"].astype({"layer": int})
    figure, (axes,) = figures.new(figures.ONE_COLUMN * 1.15, 2.6)
    for entry, look in looks.items():
        rows = of_layers[of_layers[name] == entry]
        if len(rows):
            ends = factor * rows["ci_low"], factor * rows["ci_high"]
            figures.line(axes, rows["layer"], factor * rows[number], look, look.name, ends)
    figures.layer_axis(axes, of_layers["layer"].max())
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure, axes


if __name__ == "__main__":
    job.run_figure(globals())
