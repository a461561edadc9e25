"""How often predictions flip when a cue is removed or moved: table and figure."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL, interval
from workflow_scripts.arguments.argument_scores import margin, picked, right
from workflow_scripts.arguments.setups import CHANGES, FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import held_out_parts
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean

KEYS = ["family", "setup", "cue"]
MEASURED = ("follows", "right", "margin")


def measure_parts(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """`measure` on all held-out points and, below, on the test set alone (column `split`)."""
    measured = [
        measure(rows, draws, seed).assign(split=name)
        for name, rows in held_out_parts(frame).items()
    ]
    rows = pd.concat(measured, ignore_index=True)
    return rows[["split", *rows.columns.drop("split")]]


def measure(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per family, set-up, cue and change, shares and means over points and seeds.

    Columns: flips (share of predictions that change) with a 95% interval over points (bootstrap, or
    exact binomial where all flip, or none), follows
    and follows_after (share of predictions for the warrant that had the cue), accuracy and
    accuracy_after, margin and margin_after (that warrant's logit minus the other's), n (points),
    seeds.
    """
    frame = frame.assign(picked=picked(frame), right=right(frame), margin=margin(frame))
    frame["follows"] = (frame["picked"] == frame["side"]).astype(float)
    index = [*KEYS, "seed", "id"]
    unchanged = frame[frame["change"] == "none"].set_index(index)
    rows = []
    for change in CHANGES:
        after = frame[frame["change"] == change].set_index(index).reindex(unchanged.index)
        flips = (after["picked"] != unchanged["picked"]).astype(float)
        both = unchanged.assign(flips=flips)
        for name in MEASURED:
            both[f"{name}_after"] = after[name]
        for keys, group in both.groupby(level=KEYS, sort=False):
            columns = ["flips", *(name + when for name in MEASURED for when in ("", "_after"))]
            points = group.groupby(level="id")[columns].mean()
            _, low, high = bootstrap_mean(points["flips"].to_numpy(), draws, seed, INDEPENDENT)
            row = dict(zip(KEYS, keys, strict=True)) | {"change": change} | dict(points.mean())
            n, flipped = len(points), points["flips"].sum()
            if flipped in (0, n):  # bootstrap samples are all alike
                (low,), (high,) = interval([flipped], [n], LEVEL)
            row |= {"ci_low": float(low), "ci_high": float(high), "n": n}
            rows.append(row | {"seeds": group.index.get_level_values("seed").nunique()})
    renamed = {"right": "accuracy", "right_after": "accuracy_after"}
    return pd.DataFrame(rows).rename(columns=renamed)


def draw(axes: Axes, rows: pd.DataFrame, cues: list[str]) -> None:
    """One panel: for every cue the share of flips under each change, with intervals."""
    for number, (change, look) in enumerate(colours.CHANGES.items()):
        changed = rows[rows["change"] == change].set_index("cue").reindex(cues)
        flips = changed["flips"]
        axes.errorbar(
            [x + 0.22 * (number - 1) for x in range(len(cues))],
            flips,
            yerr=[flips - changed["ci_low"], changed["ci_high"] - flips],
            fmt=look.marker,
            color=look.colour,
            elinewidth=0.8,
            label=look.name,
        )
    n = rows.drop_duplicates("cue").set_index("cue")["n"]
    names = [f"{cue}\nn = {n[cue]}" for cue in cues]
    axes.set_xticks(range(len(cues)), names)
    axes.set_xlim(-0.5, len(cues) - 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def main(
    reliance: list[Path], table: Out, svg: Out, pdf: Out, png: Out, bootstrap: int, seed: int
) -> None:
    """Write the table and draw a panel per family and set-up, of all held-out points."""
    columns = ("family", "setup", "seed", "cue", "change", "split", "id", "label", "side")
    rows = measure_parts(tables.read_all(reliance, columns), bootstrap, seed)
    titled = rows.assign(family=rows["family"].map(FAMILIES), setup=rows["setup"].map(TITLES))
    tables.write_csv(titled, table)
    rows = rows[rows["split"] == rows["split"].iloc[0]]
    setups = [setup for setup in SETUPS if setup in set(rows["setup"])]
    panels = [(family, setup) for setup in setups for family in FAMILIES]
    cues = list(dict.fromkeys(rows["cue"]))
    with figures.style():
        inputs = {setup: ", ".join((*SETUPS[setup], "warrant")) for setup in setups}
        titles = [f"{FAMILIES[family]}: {inputs[setup]}" for family, setup in panels]
        figure, axes = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.6, columns=3)
        for number, (panel, (family, setup)) in enumerate(zip(axes, panels, strict=True)):
            draw(panel, rows[(rows["family"] == family) & (rows["setup"] == setup)], cues)
            if number % 3 == 0:
                panel.set_ylabel("Predictions that flip")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
