"""Losses without the heads of each role, without random heads of their layers, and intact."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TITLES = {"second copy": "Second copy of random tokens", "text": "Running text"}
APART = 0.13  # lines between the middle of one and its two marks


def draw(axes: Axes, rows: pd.DataFrame) -> None:
    """A line for each set of heads: its loss, that of random samples with their range, and intact.

    `rows` are those of one text and mode. Of a set without random samples only the loss is there,
    and of a role without heads nothing.
    """
    at = -pd.Series(range(len(rows)), index=rows.index)
    axes.axvline(rows["intact"].iloc[0], color=colours.UNCHANGED, lw=1, label="intact")
    ends = [rows["random"] - rows["random_min"], rows["random_max"] - rows["random"]]
    bars = {"fmt": "s", "color": colours.GREY, "capsize": 2, "lw": 0.8}
    axes.errorbar(
        rows["random"], at - APART, xerr=ends, label="random heads, range of samples", **bars
    )
    ends = [rows["loss"] - rows["loss_low"], rows["loss_high"] - rows["loss"]]
    bars = {"fmt": "o", "color": colours.VERMILLION, "capsize": 2, "lw": 0.8}
    axes.errorbar(
        rows["loss"], at + APART, xerr=ends, label="heads of the role, 95% interval", **bars
    )
    axes.set_yticks(at, [_name(row) for row in rows.itertuples()])
    axes.set_ylim(0.5 - len(rows), 0.5)
    axes.set_xlabel("Loss, nats per token")


def _name(row: tuple) -> str:
    count = figures.counted(row.n_heads, "head") if row.n_heads else "no head"
    return f"{row.role}, {count if row.chosen == 'all' else row.chosen}"


def main(effects: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel for each mode and text."""
    frame = tables.read(effects, ("role", "chosen", "mode", "text", "loss", "intact", "random"))
    modes = list(frame["mode"].unique())
    of_first = frame[(frame["mode"] == modes[0]) & (frame["text"] == "text")]
    with figures.style():
        height = len(modes) * (0.9 + 0.2 * len(of_first))
        figure, panels = figures.new(figures.TWO_COLUMNS, height, columns=2, rows=len(modes))
        for row, mode in enumerate(modes):
            for axes, (text, title) in zip(panels[2 * row :], TITLES.items(), strict=False):
                draw(axes, frame[(frame["mode"] == mode) & (frame["text"] == text)])
                axes.set_title(f"{title} ({mode})")
            panels[2 * row + 1].set_yticklabels([])
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        counted = (f"{rows['n'].iloc[0]} {unit}" for unit, rows in _units(frame))
        figure.supxlabel(", ".join(counted), fontsize=7)
        figures.save(figure, svg, pdf, png)


def _units(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """What the losses on each text are means over, with its rows."""
    names = {"second copy": "sequences", "text": "segments of text"}
    return [(unit, frame[frame["text"] == text]) for text, unit in names.items()]


if __name__ == "__main__":
    job.run(main, globals())
