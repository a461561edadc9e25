"""Attention summed over all tokens of a kind, layer by layer (beside Kovaleva et al., Fig. 6-7)."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# Kinds that hardly overlap, so that shares can be stacked; subjects, objects and negation words
# are among them.
STACKED = ("cls", "sep", "punctuation", "noun", "verb", "pronoun")
NAMES = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": ". or ,", "other": "other tokens"}
COLOURS = dict(zip((*STACKED, "other"), (*figures.COLOURS[:6], "#BBBBBB"), strict=True))
QUERIES = {"all": "From all tokens", "cls": "From [CLS]"}
STAGES = ("pretrained", "fine-tuned")
WIDTH = 0.4


def by_layer(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares of STACKED and `other`, the rest, means over heads and seeds; a row per layer.

    The last row, `tokens`, has the kinds' shares of the tokens.
    """
    frame = frame[frame["kind"].isin(STACKED)]
    shares = frame.pivot_table(index="layer", columns="kind", values="share")
    shares.loc["tokens"] = frame.groupby("kind")["tokens"].mean()
    shares = shares[list(STACKED)]
    return shares.assign(other=(1 - shares.sum(axis=1)).clip(lower=0))


def draw(axes: Axes, shares: pd.DataFrame, stage: str) -> None:
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
            color=COLOURS[kind],
            label=NAMES.get(kind, kind) if side else None,
            hatch=None if side else "/////",
            edgecolor="white",
            linewidth=0.3,
        )
        bottom += values


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task and query, with the kinds' shares of the tokens beside the layers."""
    columns = ("layer", "kind", "share", "tokens", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    names = present(frame)
    n_layers = frame["layer"].max() + 1
    with figures.style():
        width = 1.6 + (0.5 + 0.2 * (n_layers + 1)) * len(names)
        figure, cells = figures.new(width, 3.6, columns=len(names), rows=len(QUERIES))
        panels = np.array(cells, dtype=object).reshape(len(QUERIES), len(names))
        for row, (query, title) in zip(panels, QUERIES.items(), strict=True):
            for axes, name in zip(row, names, strict=True):
                of_task = frame[(frame["query"] == query) & (frame["task"] == name)]
                for stage in STAGES:
                    draw(axes, by_layer(of_task[of_task["stage"] == stage]), stage)
                layers = [layer for layer in range(1, n_layers + 1) if layer % 2 or n_layers < 7]
                ticks = [str(layer) for layer in layers]
                axes.set_xticks([*layers, n_layers + 1.5], [*ticks, "tokens"], rotation=90)
                axes.set_ylim(0, 100)
            row[0].set_ylabel(f"{title}\nShare (%)")
        for axes, name in zip(panels[0], names, strict=True):
            axes.set_title(TASKS[name].title)
        for axes in panels[-1]:
            axes.set_xlabel("Layer")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(
            handles[::-1],
            labels[::-1],
            loc="outside right center",
            title="hatched: pretrained",
            title_fontsize=7,
        )
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
