"""Scores with heads disabled: effects with paired intervals, corrected p-values, honest gains."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, Task
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import resampling
from workflow_scripts.core.stats.metrics import predictions_of, weighted_scores

KEYS = ("unit", "mode", "layer", "head")
COLUMNS = ("task", "init", "seed", "split", "id", "label", *KEYS)


def score(
    task: Task,
    labels: np.ndarray,
    baseline: np.ndarray,
    predictions: np.ndarray,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row per metric and variant: score, baseline, effect (their difference) and its test.

    `predictions` is [variant, example], `baseline` [example]. ci_low and ci_high hold the effect
    in 95% of `draws` samples of examples, on which both are scored; `p` and `p_corrected` are
    those of resampling.p_values, corrected for the number of variants.
    """
    both = np.concatenate([baseline[None], predictions])
    weights = resampling.observed_and_drawn(len(labels), draws, seed)
    frames = []
    for metric in task.metrics:
        scores = weighted_scores(metric, labels, both, weights)
        effects = scores[:, 1:] - scores[:, :1]
        p, corrected = resampling.p_values(effects[0], effects[1:])
        low, high = np.percentile(effects[1:], resampling.CONFIDENCE, axis=0)
        columns = {"score": scores[0, 1:], "baseline": scores[0, 0], "effect": effects[0]}
        columns |= {"ci_low": low, "ci_high": high, "p": p, "p_corrected": corrected}
        frames.append(tables.tidy({"variant": range(len(predictions))}, **columns))
        frames[-1]["metric"] = metric
    return pd.concat(frames, ignore_index=True).assign(n=len(labels))


def gains(
    task: Task,
    labels: np.ndarray,
    baseline: np.ndarray,
    about: pd.DataFrame,
    predictions: np.ndarray,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row per metric and choice: the naive and the honest gain of the best variant.

    The choice is among all variants, `layer` -1; for all-but-one among the heads of each layer.
    """
    one_layer = about["unit"].iloc[0] == "all-but-one"
    groups = about["layer"].to_numpy() if one_layer else np.full(len(about), -1)
    rows = []
    for metric in task.metrics:
        for layer in np.unique(groups):
            chosen = predictions[groups == layer]
            found = resampling.honest_gain(metric, labels, baseline, chosen, draws, seed)
            rows.append({"metric": metric, "layer": layer, "choices": len(chosen)} | found)
    return pd.DataFrame(rows).assign(n=len(labels))


def main(logits: Path, scores: Out, gain: Out, bootstrap: int, halves: int, seed: int) -> None:
    """Write a row per split, metric and variant, and the gains of the best variants."""
    frame = tables.read(logits, COLUMNS)
    task = TASKS[frame["task"].iloc[0]]
    named = {key: frame[key].iloc[0] for key in ("task", "init", "seed")}
    scored, gained = [], []
    for split, rows in frame.groupby("split", sort=False):
        plain = rows[rows["unit"] == "none"]
        labels, baseline = plain["label"].to_numpy(), _predictions(task, plain)
        for (unit, mode), variants in rows[rows["unit"] != "none"].groupby(["unit", "mode"]):
            about = variants[list(KEYS)].drop_duplicates().reset_index(drop=True)
            predictions = _predictions(task, variants).reshape(len(about), len(labels))
            its = {"split": split, "unit": unit, "mode": mode}
            found = score(task, labels, baseline, predictions, bootstrap, seed)
            cells = about.loc[found.pop("variant"), ["layer", "head"]].reset_index(drop=True)
            scored.append(cells.join(found).assign(**its))
            given = (task, labels, baseline, about, predictions, halves, seed)
            gained.append(gains(*given).assign(**its))
    tables.write(pd.concat(scored, ignore_index=True).assign(**named), scores)
    tables.write(pd.concat(gained, ignore_index=True).assign(**named), gain)


def _predictions(task: Task, rows: pd.DataFrame) -> np.ndarray:
    return predictions_of(task, rows[[f"logit_{k}" for k in range(task.n_labels)]].to_numpy())


if __name__ == "__main__":
    job.run(main, globals())
