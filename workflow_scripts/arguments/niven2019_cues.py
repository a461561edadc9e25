"""Niven and Kao 2019, Table 2, and every cue: productivity against coverage, table and figure."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# As printed for "not". The public files give other numbers.
PAPER = {"train": (0.65, 0.66), "dev": (0.62, 0.44), "test": (0.52, 0.77), "all": (0.61, 0.64)}
SHOWN = ["data", "split", "cue", "productive", "applicable", "n", "productivity", "coverage"]
SHOWN += ["ci_low", "ci_high", "p_corrected", "tested"]
SETS = {"train": "training set", "dev": "development set", "test": "test set", "all": "all sets"}
COVERAGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)  # ticks
BEYOND = "different from 50% (the most frequent are named)"
MAX_NAMED = 7  # maximum number of cues that are named in a panel
# The distance between two named cues, in coverage or in productivity.
MIN_COVERAGE_RATIO, MIN_PRODUCTIVITY_DIFFERENCE = 2.5, 0.07


def one_cue(cues: pd.DataFrame, counts: pd.DataFrame, cue: str) -> pd.DataFrame:
    """A row per set and split of one cue, with the paper's numbers where it prints them.

    `following` is the accuracy of choosing the warrant with the cue where one alone contains it,
    and guessing elsewhere. Where a cue was planted, the planted counts are next to those measured.
    """
    rows = cues[cues["cue"] == cue][SHOWN].reset_index(drop=True)
    guessed = (rows["n"] - rows["applicable"]) / 2
    rows.insert(8, "following", (rows["productive"] + guessed) / rows["n"])
    original = rows["data"] == "original"
    printed = rows["split"].map(PAPER).where(original & (cue == "not"))
    for column, name in enumerate(("productivity", "coverage")):
        rows[f"paper_{name}"] = [
            numbers[column] if isinstance(numbers, tuple) else None for numbers in printed
        ]
    for measure in ("productive", "applicable"):
        planted = counts[counts["what"] == f"planted {measure}"].set_index("split")["n"]
        if len(planted):
            rows[f"planted_{measure}"] = rows["split"].map(planted).where(original)
    return rows


def draw(axes: Axes, rows: pd.DataFrame) -> None:
    """One panel: productivity of every cue with its interval; names of those beyond chance."""
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    beyond = rows["p_corrected"] < LEVEL
    kinds = [
        (~beyond, colours.Look("no evidence against 50%", colours.GREY, "o"), 0.5),
        (beyond, colours.Look(BEYOND, colours.HIGHLIGHT, "s"), 1),
    ]
    for chosen, look, alpha in kinds:
        cues = rows[chosen]
        productivity = cues["productivity"]
        axes.errorbar(
            cues["coverage"],
            productivity,
            yerr=[productivity - cues["ci_low"], cues["ci_high"] - productivity],
            fmt=look.marker,
            color=look.colour,
            alpha=alpha,
            elinewidth=0.6,
            markersize=3,
            label=look.name,
        )
    for row in named(rows[beyond]):
        xy = (row.coverage, row.productivity)
        axes.annotate(
            row.cue, xy, xytext=(3, 2), textcoords="offset points", fontsize=figures.SMALL
        )
    axes.set_xscale("log")
    axes.set_xlim(0.85 * rows["coverage"].min(), 1.15)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_locator(FixedLocator(COVERAGES))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("Coverage, % of the points")


def n_of(frame: pd.DataFrame, data: str, split: str) -> int:
    """The number of points of a set."""
    return int(frame[(frame["data"] == data) & (frame["split"] == split)]["n"].iloc[0])


def named(rows: pd.DataFrame) -> list[Any]:
    """The cues that are named: those of largest coverage whose names do not overlap."""
    chosen: list[Any] = []
    for row in rows.sort_values("applicable", ascending=False, kind="stable").itertuples():
        apart = (
            abs(row.productivity - wider.productivity) > MIN_PRODUCTIVITY_DIFFERENCE
            or wider.coverage > MIN_COVERAGE_RATIO * row.coverage
            for wider in chosen
        )
        if len(chosen) < MAX_NAMED and all(apart):
            chosen.append(row)
    return chosen


def main(
    cues: Path,
    counts: Path,
    table2: Out,
    all_cues: Out,
    svg: Out,
    pdf: Out,
    png: Out,
    cue: str,
) -> None:
    """Write Table 2 and the cues of every set, those that differ from chance marked.

    Draw a panel for each original split, and one for the whole adversarial set.
    """
    frame = tables.read(cues, tuple(SHOWN))
    tables.write_csv(one_cue(frame, tables.read_csv(counts), cue.lower()), table2)
    beyond = frame["p_corrected"] < LEVEL
    tables.write_csv(frame.assign(beyond_chance=beyond)[[*SHOWN, "beyond_chance"]], all_cues)
    panels = [("original", split) for split in frame[frame["data"] == "original"]["split"].unique()]
    adversarial = frame[frame["data"] == "negated"]["split"].unique()
    panels += [("negated", adversarial[-1])] if len(adversarial) else []
    titles = [
        f"{SETS.get(split, split)}, {n_of(frame, data, split)} points" for data, split in panels
    ]
    if len(adversarial):
        titles[-1] = f"adversarial set, {n_of(frame, *panels[-1])} points"
    with figures.style():
        figure, axes = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1, columns=3)
        for number, (panel, (data, split)) in enumerate(zip(axes, panels, strict=True)):
            draw(panel, frame[(frame["data"] == data) & (frame["split"] == split)])
            if number % 3 == 0:
                panel.set_ylabel("Productivity,\n% of applicable points")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
