"""Niven and Kao 2019, Table 2, and every cue: productivity against coverage, table and figure."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from workflow_scripts.arguments.cues import LEVEL, interval
from workflow_scripts.core import figures, job, tables
from workflow_scripts.core.job import Out

# As printed for "not". The public files give other numbers.
PAPER = {"train": (0.65, 0.66), "dev": (0.62, 0.44), "test": (0.52, 0.77), "all": (0.61, 0.64)}
SHOWN = ["data", "split", "cue", "productive", "applicable", "n", "productivity", "coverage"]
SHOWN += ["ci_low", "ci_high", "p_corrected", "tested"]
NAMED = 7  # cues beyond chance that are written beside their points, the widest


def one_cue(cues: pd.DataFrame, counts: pd.DataFrame, cue: str) -> pd.DataFrame:
    """A row per set and split of one cue, with the paper's numbers where it prints them.

    Where a cue was planted, its counts stand beside those found.
    """
    found = cues[cues["cue"] == cue][SHOWN].reset_index(drop=True)
    original = found["data"] == "original"
    printed = found["split"].map(PAPER).where(original & (cue == "not"))
    for place, name in enumerate(("productivity", "coverage")):
        found[f"paper_{name}"] = [one[place] if isinstance(one, tuple) else None for one in printed]
    for what in ("productive", "applicable"):
        planted = counts[counts["what"] == f"planted {what}"].set_index("split")["n"]
        if len(planted):
            found[f"planted_{what}"] = found["split"].map(planted).where(original)
    return found


def draw(axes: Axes, rows: pd.DataFrame) -> None:
    """One panel: a point per cue, the chance line, and the bounds of what chance gives."""
    n, tested = rows["n"].iloc[0], rows["tested"].iloc[0]
    applicable = np.unique(np.geomspace(rows["applicable"].min(), n, 60).astype(int))
    low, high = interval(applicable / 2, applicable, LEVEL / tested)
    axes.fill_between(
        applicable / n, low, high, color="0.9", linewidth=0, label="chance, corrected"
    )
    axes.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    beyond = rows["p_corrected"] < LEVEL
    for number, (chosen, name) in enumerate(
        [(~beyond, "within chance"), (beyond, "beyond chance")]
    ):
        its = rows[chosen]
        axes.plot(
            its["coverage"],
            its["productivity"],
            figures.MARKERS[number],
            color=("0.55", figures.COLOURS[1])[number],
            alpha=(0.6, 1)[number],
            markeredgewidth=0,
            label=name,
        )
    for row in rows[beyond].nlargest(NAMED, "applicable").itertuples():
        axes.annotate(
            row.cue, (row.coverage, row.productivity), xytext=(3, 2), textcoords="offset points",
            fontsize=6,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(right=1)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("Coverage")


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

    Draw the original splits and, of the adversarial set, all of its points.
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
        for number, (one, (data, split)) in enumerate(zip(axes, panels, strict=True)):
            draw(one, frame[(frame["data"] == data) & (frame["split"] == split)])
            if number % 3 == 0:
                one.set_ylabel("Productivity")
        axes[0].legend(loc="lower left")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
