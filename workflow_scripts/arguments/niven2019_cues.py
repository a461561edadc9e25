"""Niven and Kao 2019, Table 2, and every cue: productivity against coverage, table and figure."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# As printed for "not". The public files give other numbers.
PAPER = {"train": (0.65, 0.66), "dev": (0.62, 0.44), "test": (0.52, 0.77), "all": (0.61, 0.64)}
SHOWN = ["data", "split", "cue", "productive", "applicable", "n", "productivity", "coverage"]
SHOWN += ["ci_low", "ci_high", "p_corrected", "tested"]
MAX_NAMED = 7  # maximum number of cues that are named in a panel
# The distance between two named cues, in coverage or in productivity.
MIN_COVERAGE_RATIO, MIN_PRODUCTIVITY_DIFFERENCE = 2.5, 0.07


def one_cue(cues: pd.DataFrame, counts: pd.DataFrame, cue: str) -> pd.DataFrame:
    """A row per set and split of one cue, with the paper's numbers where it prints them.

    `following` is the accuracy of choosing the warrant with the cue where one alone contains it,
    and guessing elsewhere. Where a cue was planted, the planted counts are beside those measured.
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
    """One panel: productivity of every cue with its interval; those beyond chance are named."""
    axes.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    beyond = rows["p_corrected"] < LEVEL
    kinds = [
        (~beyond, "within chance", "0.6", 0.5),
        (beyond, "beyond chance", figures.COLOURS[1], 1),
    ]
    for number, (chosen, name, colour, alpha) in enumerate(kinds):
        cues = rows[chosen]
        productivity = cues["productivity"]
        axes.errorbar(
            cues["coverage"],
            productivity,
            yerr=[productivity - cues["ci_low"], cues["ci_high"] - productivity],
            fmt=figures.MARKERS[number],
            color=colour,
            alpha=alpha,
            elinewidth=0.6,
            markersize=3,
            label=name,
        )
    for row in named(rows[beyond]):
        xy = (row.coverage, row.productivity)
        axes.annotate(row.cue, xy, xytext=(3, 2), textcoords="offset points", fontsize=6)
    axes.set_xscale("log")
    axes.set_xlim(0.85 * rows["coverage"].min(), 1.15)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("Coverage")


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
    """Write Table 2 and the cues of every set, those beyond chance marked.

    Draw a panel for each original split, and one for the whole adversarial set.
    """
    frame = tables.read(cues, tuple(SHOWN))
    tables.write_csv(one_cue(frame, pd.read_csv(counts), cue.lower()), table2)
    beyond = frame["p_corrected"] < LEVEL
    tables.write_csv(frame.assign(beyond_chance=beyond)[[*SHOWN, "beyond_chance"]], all_cues)
    panels = [("original", split) for split in frame[frame["data"] == "original"]["split"].unique()]
    adversarial = frame[frame["data"] == "negated"]["split"].unique()
    panels += [("negated", adversarial[-1])] if len(adversarial) else []
    titles = [
        f"{split}, " * (data == "original")
        + {"original": "original", "negated": "adversarial set"}[data]
        for data, split in panels
    ]
    with figures.style():
        figure, axes = figures.panels(titles, 2.3, 2.1, columns=3)
        for number, (panel, (data, split)) in enumerate(zip(axes, panels, strict=True)):
            draw(panel, frame[(frame["data"] == data) & (frame["split"] == split)])
            if number % 3 == 0:
                panel.set_ylabel("Productivity")
        axes[min(2, len(axes) - 1)].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
