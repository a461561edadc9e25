"""Which heads carry the cue: the effect of disabling each, as table and heat maps."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.arguments.argument_scores import margin, picked, right
from workflow_scripts.arguments.setups import SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import resampling

# Titles of the measures. The margin is the logit of the warrant with the cue minus the other's.
MEASURES = {
    "margin": "Margin of the\ncue's warrant",
    "follows": "Picks of the cue's\nwarrant, points",
    "accuracy": "Accuracy,\npoints",
}


def per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """Margin, follows and accuracy of each row; NaN where no warrant alone contains the cue."""
    applicable = frame["side"] >= 0
    return frame.assign(
        margin=margin(frame).where(applicable),
        follows=100 * (picked(frame) == frame["side"]).astype(float).where(applicable),
        accuracy=100 * right(frame).astype(float),
    )


def effects(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per measure and head of one set-up: baseline, effect, interval, p, p_corrected, n.

    Effects are means over points and seeds of the model with the head disabled minus the intact
    one. Intervals and p-values resample points; p_corrected is corrected for the number of heads
    (max-T).
    """
    rows = per_point(frame).groupby(["layer", "head", "id"], as_index=False)[list(MEASURES)].mean()
    frames = []
    for name in MEASURES:
        wide = rows.pivot_table(index=["layer", "head"], columns="id", values=name)
        intact, disabled = wide.loc[(-1, -1)], wide.drop(index=(-1, -1))
        change = (disabled - intact).to_numpy()
        weights = resampling.bootstrap_weights(change.shape[1], draws, seed)
        drawn = weights @ change.T / change.shape[1]
        effect = change.mean(axis=1)
        p, corrected = resampling.p_values(effect, drawn)
        low, high = np.percentile(drawn, resampling.CONFIDENCE, axis=0)
        columns = {"measure": name, "baseline": intact.mean(), "effect": effect, "ci_low": low}
        columns |= {"ci_high": high, "p": p, "p_corrected": corrected, "n": change.shape[1]}
        frames.append(disabled.index.to_frame(index=False).assign(**columns))
    return pd.concat(frames, ignore_index=True)


def main(heads: Path, table: Out, svg: Out, pdf: Out, png: Out, bootstrap: int, seed: int) -> None:
    """Write the table, the strongest effects first, and draw a map per set-up and measure."""
    frame = tables.read(heads, ("setup", "seed", "layer", "head", "id", "label", "side"))
    setups = [setup for setup in SETUPS if setup in set(frame["setup"])]
    parts = {s: effects(frame[frame["setup"] == s], bootstrap, seed) for s in setups}
    named = [part.assign(setup=setup) for setup, part in parts.items()]
    measured = pd.concat(named, ignore_index=True)
    measured.insert(0, "name", labels(measured))
    measured["seeds"] = frame["seed"].nunique()
    order = measured.assign(size=measured["effect"].abs(), setup=measured["setup"].map(TITLES))
    order = order.sort_values(["setup", "measure", "size"], ascending=[True, True, False])
    tables.write_csv(order.drop(columns="size"), table)
    shape = (measured["layer"].max() + 1, measured["head"].max() + 1)
    with figures.style():
        rows = [TITLES[setup] for setup in setups]
        figure, panels = heatmaps.sheet(rows, list(MEASURES.values()), shape)
        for row, setup in zip(panels, setups, strict=True):
            for axes, measure in zip(row, MEASURES, strict=True):
                shown = parts[setup][parts[setup]["measure"] == measure]
                limit = max(shown["effect"].abs().max(), 1e-3)
                grid = heatmaps.grid_of(shown, "effect")
                image = heatmaps.draw(axes, grid, -limit, limit, heatmaps.AROUND_ZERO)
                beyond = shown[shown["p_corrected"] < 0.05]
                axes.plot(beyond["head"], beyond["layer"], "o", color="black", markersize=1.5)
                bar = figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05, aspect=12)
                bar.ax.tick_params(labelsize=6)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
