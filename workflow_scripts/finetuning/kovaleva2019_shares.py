"""Attention summed over all tokens of a kind, layer by layer (Kovaleva et al., see Fig. 6-7)."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# Kinds that hardly overlap, so that shares can be stacked; subjects, objects and negation words
# are among them.
STACKED = ("cls", "sep", "punctuation", "noun", "verb", "pronoun")
LOOKS = colours.TOKENS | colours.WORDS
QUERIES = {"all": "From all tokens", "cls": "From [CLS]"}
STAGES = ("pretrained", "fine-tuned")
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
            color=LOOKS[kind].colour,
            hatch=colours.STAGES[stage].hatch,
            edgecolor=colours.WHITE,
            linewidth=0.3,
        )
        bottom += values


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task and query, with the kinds' shares of the tokens next to the layers."""
    columns = ("layer", "kind", "share", "tokens", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    names = present(frame)
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
                    draw(axes, by_layer(of_task[of_task["stage"] == stage]), stage)
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


if __name__ == "__main__":
    job.run(main, globals())
