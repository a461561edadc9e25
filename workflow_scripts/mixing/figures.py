"""The figures of norms and mixing ratios (Kobayashi et al. 2020 and 2021)."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

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
def kobayashi2020_norms(weights: Path, norms: Path, table: Out) -> Figure:
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
    frame = tables.read_csv(ratios, dtype={"layer": str})
    of_layers = frame[frame["layer"] != "all"].astype({"layer": int})
    figure, (axes,) = figures.new(figures.ONE_COLUMN * 1.15, 2.6)
    for method, rows in of_layers.groupby("method", sort=False):
        look = colours.PRESERVING[method]
        ends = rows["ci_low"], rows["ci_high"]
        figures.line(axes, rows["layer"], rows["ratio"], look, look.name, ends)
    axes.axhline(50, color=colours.GUIDE, linestyle=":", linewidth=1.0)
    figures.layer_axis(axes, of_layers["layer"].max())
    axes.set(ylabel="Mixing ratio (%)", ylim=(0, 100))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
