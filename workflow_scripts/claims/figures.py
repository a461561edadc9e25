"""Each central claim on an axis of its own: the rule's range, the paper's number and ours."""

import math
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from workflow_scripts.chapters import SOURCES
from workflow_scripts.claims.verdicts import JUDGED
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job

# Inches: a line of text, the gap between claims, the legend; where the columns begin and end.
LINE, GAP, LEGEND = 0.125, 0.15, 0.75
TEXT, STRIP, STRIP_END, CASES = 0.05, 3.0, 4.55, 4.7
LEFT, RIGHT = 56, 42  # characters of a line left and right of the strip
FONT = 7  # points
COPIES = ["untrained_low", "untrained_high"]
NUMBERS = ["ours", "ci_low", "ci_high", "paper_value", "rule_low", "rule_high", "reference"]
BELOW = 0.055  # inches from a strip to its outermost numbers
RULE = {"facecolor": colours.REQUIRED, "edgecolor": colours.REQUIRED_EDGE, "linewidth": 0.4}
NO_EFFECT = {"color": colours.GREY, "linewidth": 1, "linestyle": ":"}
UNTRAINED = {"color": colours.GREY, "marker": "x", "markersize": 3.5, "linestyle": ""}
PUBLISHED = {"color": colours.WINE, "linewidth": 1.4}


def row_of(rows: pd.DataFrame) -> SimpleNamespace:
    """A judged claim, whose cases are `rows`, with the lines of text next to its strip.

    They are those of its statement, of its rule and of each case; `height` is how many it takes.
    """
    claim = rows.iloc[0]
    rule = f"Rule: {claim['rule']}"
    if not math.isnan(claim["paper_value"]):
        rule += f"; the paper's number: {_short(claim['paper_value'])}"
    if isinstance(claim["source"], str):
        rule += f" ({SOURCES[claim['source']]})"
    cases = [wrap(_case(row), RIGHT) for row in rows.to_dict("records")]
    statement, rule_lines = wrap(claim["statement"], LEFT), wrap(rule, LEFT)
    lines = max(len(statement + rule_lines), sum(map(len, cases)))
    return SimpleNamespace(rows=rows, text=statement, rule=rule_lines, cases=cases, height=lines)


@figures.drawn
def claims_figure(verdicts: Path) -> Figure:
    """The central claims that are tested, by paper."""
    frame = tables.read_csv(verdicts).dropna(subset=["central"])
    judged = frame[frame["verdict"].isin(JUDGED)]
    papers = {
        str(paper): [row_of(rows) for _, rows in part.groupby("id", sort=False)]
        for paper, part in judged.groupby("paper", sort=False)
    }
    claims = [row for part in papers.values() for row in part]
    height = LEGEND + sum(row.height * LINE + GAP for row in claims)
    height += (len(papers) + 1) * 2 * LINE
    figure = Figure(figsize=(figures.TWO_COLUMNS, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, figures.TWO_COLUMNS), ylim=(height, 0))
    axes.axis("off")
    _legend(figure, judged)
    top = LEGEND
    for paper, rows in papers.items():
        axes.text(TEXT, top + LINE, paper, size=8, weight="bold", va="center")
        top += 2 * LINE
        for row in rows:
            _draw(axes, row, top)
            top += row.height * LINE + GAP
    counts = f"{len(claims)} of {frame['id'].nunique()} central claims are tested in this study."
    axes.text(TEXT, top + LINE, counts, size=FONT, va="center")
    return figure


def _short(number: float) -> str:
    """A number to three digits."""
    return (f"{number:.3g}" if abs(number) < 999.5 else f"{number:.0f}").replace("-", "−")


def _case(row: dict[str, Any]) -> str:
    """Our number for a case with its interval, what this is if not of 95%, and n."""
    number = _short(row["ours"])
    if row["ci_low"] < row["ci_high"]:
        kind = f": {row['interval']}" if isinstance(row["interval"], str) else ""
        number += f" ({_short(row['ci_low'])} to {_short(row['ci_high'])}{kind})"
    if not math.isnan(row["n"]):
        units = row["n_of"].removesuffix("s") if row["n"] == 1 else row["n_of"]
        number += f", n = {row['n']:.0f} {units}"
    return f"{row['case']}: {number}" if isinstance(row["case"], str) else number


def _draw(axes: Axes, row: SimpleNamespace, top: float) -> None:
    """A claim's text and strip; the strip's axis is in the claim's own unit."""
    height = row.height * LINE
    numbers = row.rows[NUMBERS + COPIES].astype(float).stack()
    lowest, highest = float(numbers.min()), float(numbers.max())
    room = (highest - lowest) / 10 or 1.0
    low, high = lowest - room, highest + room

    def place(value: float) -> float:
        return STRIP + (value - low) / (high - low) * (STRIP_END - STRIP)

    claim = row.rows.iloc[0]
    ends = (claim["rule_low"], claim["rule_high"])
    start, end = (
        place(edge if math.isnan(value) else value)
        for value, edge in zip(ends, (low, high), strict=True)
    )
    if start <= end:
        axes.add_patch(Rectangle((start, top), end - start, height, **RULE))
    axes.plot([STRIP, STRIP_END], [top + height] * 2, color=colours.PALE, linewidth=0.6)
    for value in dict.fromkeys((lowest, highest)):
        style = {"size": figures.SMALL, "color": colours.GREY, "ha": "center", "va": "center"}
        axes.text(place(value), top + height + BELOW, _short(value), **style)
    if not math.isnan(claim["paper_value"]):
        axes.plot([place(claim["paper_value"])] * 2, [top, top + height], **PUBLISHED)
    for i, line in enumerate(row.text + row.rule):
        colour = colours.BLACK if i < len(row.text) else colours.GREY
        axes.text(TEXT, top + (i + 0.5) * LINE, line, size=FONT, va="center", color=colour)
    at = top
    for case, lines in zip(row.rows.to_dict("records"), row.cases, strict=True):
        look, middle = colours.VERDICTS[case["verdict"]], at + len(lines) * LINE / 2
        if len(row.cases) == 1:
            middle = top + height / 2
        if not math.isnan(case["reference"]):
            reach = len(lines) * LINE / 2
            axes.plot([place(case["reference"])] * 2, [middle - reach, middle + reach], **NO_EFFECT)
        copies = [place(case[end]) for end in COPIES if not math.isnan(case[end])]
        axes.plot(copies, [middle] * len(copies), **UNTRAINED)
        if case["ci_low"] < case["ci_high"]:
            interval = [place(case["ci_low"]), place(case["ci_high"])]
            axes.plot(interval, [middle] * 2, color=look.colour, linewidth=1)
        axes.plot(place(case["ours"]), middle, look.marker, color=look.colour, markersize=4.5)
        first = middle - (len(lines) - 1) / 2 * LINE
        for i, line in enumerate(lines):
            axes.text(CASES, first + i * LINE, line, size=FONT, va="center")
        at += len(lines) * LINE


def _legend(figure: Figure, judged: pd.DataFrame) -> None:
    """What the marks mean: the verdicts that there are, the rule and the paper's number."""
    handles: list[Any] = [
        Patch(label="where the rule requires our number", **RULE),
        Line2D([], [], label="the paper's number", **PUBLISHED),
    ]
    if judged["reference"].notna().any():
        handles.append(Line2D([], [], label="no effect: chance, a baseline or 0", **NO_EFFECT))
    if judged[COPIES].notna().any(axis=None):
        handles.append(Line2D([], [], label="untrained copies, lowest and highest", **UNTRAINED))
    found = set(judged["verdict"])
    for verdict in (verdict for verdict in JUDGED if verdict in found):
        look = colours.VERDICTS[verdict]
        style = {"marker": look.marker, "color": look.colour, "linewidth": 1}
        handles.append(Line2D([], [], label=f"our number and interval: {verdict}", **style))
    figure.legend(handles=handles, loc="upper center", ncols=2, fontsize=FONT)


if __name__ == "__main__":
    job.run_figure(globals())
