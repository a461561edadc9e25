"""Which heads carry the cue: the effect of disabling each, as table and heat maps."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from workflow_scripts.arguments.argument_scores import margin, picked, right
from workflow_scripts.arguments.setups import SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import held_out_parts
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.plots.figures import counted
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import power, randomisation, resampling
from workflow_scripts.core.stats.randomisation import LEVEL
from workflow_scripts.core.stats.swaps import OfSums

BETWEEN = 0.45  # inches between maps, for the colour bars
LEAST = 5  # predictions that flip, the least that full colour stands for
# Titles of the measures. The margin is the logit of the warrant with the cue minus the other's.
MEASURES = {
    "margin": "Margin of the\nwarrant with the cue",
    "follows": "Predictions for the\nwarrant with the cue",
    "accuracy": "Accuracy",
}
# Measures that share a scale, and its unit.
SCALES = {("margin",): "Change, logits", ("follows", "accuracy"): "Change, points"}


def per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """Margin, follows and accuracy of each row; NaN where no warrant alone contains the cue."""
    applicable = frame["side"] >= 0
    return frame.assign(
        margin=margin(frame).where(applicable),
        follows=100 * (picked(frame) == frame["side"]).astype(float).where(applicable),
        accuracy=100 * right(frame).astype(float),
    )


def lower(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Margins [head, point] that are smaller by a part of their mean size, see power.Break."""
    return values - degree * np.abs(values).mean(axis=1, keepdims=True)


def missed(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Points [head, point] of which a share is 0 with every seed, see power.Break."""
    hit = order[:, : int(np.ceil(degree * values.shape[1]))]
    broken = values.copy()
    broken[np.arange(len(values))[:, None], hit] = 0.0
    return broken


def mean_over_points(n: int) -> OfSums:
    """Means of values [head, point] over `n` points, as what heads are compared by."""
    return OfSums(lambda values: values[None], lambda sums: sums[0] / n)


def effects(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """One row per measure and head of one set-up: baseline, effect, interval, p, p_corrected, n.

    Effects are means over points and seeds of the model with the head disabled minus the intact
    one. Intervals resample points. p-values are those of randomisation.test, which swaps points
    (with all their seeds); p_corrected is corrected for the number of heads. `found` is the
    smallest loss that would have been significant with a power of 80% (power.smallest_loss).
    """
    rows = per_point(frame).groupby(["layer", "head", "id"], as_index=False)[list(MEASURES)].mean()
    frames = []
    for name in MEASURES:
        if rows[name].isna().all():
            continue
        wide = rows.pivot_table(index=["layer", "head"], columns="id", values=name)
        intact, disabled = wide.loc[(-1, -1)], wide.drop(index=(-1, -1))
        change = (disabled - intact).to_numpy()
        weights = resampling.bootstrap_weights(change.shape[1], draws, seed)
        resampled = weights @ change.T / change.shape[1]
        effect = change.mean(axis=1)
        n, values = change.shape[1], (intact.to_numpy(), disabled.to_numpy())
        tested = randomisation.test(mean_over_points(n), *values, permutations, seed)
        worse = lower if name == "margin" else missed
        found = power.smallest_loss(mean_over_points(n), *values, worse, tested.critical, seed)
        low, high = np.percentile(resampled, resampling.CONFIDENCE, axis=0)
        columns = {"measure": name, "baseline": intact.mean(), "effect": effect, "ci_low": low}
        columns |= {"ci_high": high, "p": tested.p, "p_corrected": tested.corrected}
        columns |= {"found": found, "n": n}
        frames.append(disabled.index.to_frame(index=False).assign(**columns))
    return pd.concat(frames, ignore_index=True)


def measure_parts(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """The effects of every set-up, the strongest first: a column `split` and the heads' names.

    All held-out points come first, then the test set alone.
    """
    frames = []
    for split, rows in held_out_parts(frame).items():
        of_split = [
            effects(of_setup, draws, permutations, seed).assign(split=split, setup=setup)
            for setup, of_setup in rows.groupby("setup", sort=False)
        ]
        measured = pd.concat(of_split, ignore_index=True)
        measured.insert(0, "name", labels(measured))
        measured["seeds"] = rows["seed"].nunique()
        order = measured.assign(size=measured["effect"].abs(), title=measured["setup"].map(TITLES))
        order = order.sort_values(["title", "measure", "size"], ascending=[True, True, False])
        frames.append(measured.loc[order.index])
    return pd.concat(frames, ignore_index=True)


def limit(effects: pd.DataFrame) -> float:
    """The end of the scale of some effects: the largest, or in points at least LEAST flips.

    A flip is one point of the smallest set, with every seed.
    """
    largest = effects["effect"].abs().max()
    in_points = effects["measure"].ne("margin").any()
    return max(largest, LEAST * 100 / effects["n"].min() if in_points else 0.0)


def draw(axes: Axes, effects: pd.DataFrame, end: float) -> AxesImage | None:
    """One map of the effect of every head on one measure, or a sentence where all are 0.

    Heads whose corrected p is LEVEL or more are muted.
    """
    over = f"n = {effects['n'].iloc[0]}, {counted(effects['seeds'].iloc[0], 'seed')}"
    if (effects["effect"] == 0).all():
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set(xticks=[], yticks=[], xlabel="")
        heatmaps.note(axes, f"unchanged by any head\n({over})")
        return None
    image = heatmaps.around_zero(axes, heatmaps.grid_of(effects, "effect"), end)
    heatmaps.mute(axes, image, heatmaps.grid_of(effects, "p_corrected") >= LEVEL)
    axes.set_xlabel(f"Head ({over})")
    return image


def main(
    heads: Path,
    table: Out,
    svg: Out,
    pdf: Out,
    png: Out,
    bootstrap: int,
    permutations: int,
    seed: int,
) -> None:
    """Write the table, and draw a map per set-up and measure, of all held-out points."""
    columns = ("setup", "seed", "split", "layer", "head", "id", "label", "side")
    measured = measure_parts(tables.read(heads, columns), bootstrap, permutations, seed)
    titled = measured.assign(setup=measured["setup"].map(TITLES))
    tables.write_csv(titled, table)
    shown = measured[measured["split"] == measured["split"].iloc[0]]
    setups = [setup for setup in SETUPS if setup in set(shown["setup"])]
    shape = (shown["layer"].max() + 1, shown["head"].max() + 1)
    with figures.style():
        rows = [",\n".join((*SETUPS[setup], "warrant")) for setup in setups]
        figure, panels = heatmaps.sheet(rows, list(MEASURES.values()), shape, BETWEEN)
        for measures, unit in SCALES.items():
            of_scale = shown[shown["measure"].isin(measures)]
            columns = [list(MEASURES).index(name) for name in measures]
            images = [
                draw(panels[row, column], chosen, limit(of_scale))
                for row, setup in enumerate(setups)
                for column, measure in zip(columns, measures, strict=True)
                for chosen in [of_scale.query("setup == @setup and measure == @measure")]
                if len(chosen)  # none where the cue is in no held-out point
            ]
            drawn = [image for image in images if image]
            if drawn:
                heatmaps.bar(drawn[0], panels[:, columns].ravel(), unit, shrink=0.8)
        words = f"not significant: p ≥ {LEVEL}, corrected for {shape[0] * shape[1]} heads"
        figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
