"""Scores with heads disabled: effects with paired intervals, corrected p-values, honest gains."""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Predictions:
    """What the plain model and its variants predict for the examples of a split."""

    task: Task
    labels: np.ndarray  # [example]
    baseline: np.ndarray  # [example], of the plain model
    variants: np.ndarray  # [variant, example]


def score(predictions: Predictions, draws: int, seed: int) -> pd.DataFrame:
    """One row per metric and variant: score, baseline, effect (their difference) and its test.

    ci_low and ci_high are the ends of the effect's 95% interval over `draws` samples of examples,
    on which both are scored; `p` and `p_corrected` are those of resampling.p_values, corrected for
    the number of variants.
    """
    labels = predictions.labels
    both = np.concatenate([predictions.baseline[None], predictions.variants])
    weights = resampling.observed_and_drawn(len(labels), draws, seed)
    frames = []
    for metric in predictions.task.metrics:
        scores = weighted_scores(metric, labels, both, weights)
        effects = scores[:, 1:] - scores[:, :1]
        p, corrected = resampling.p_values(effects[0], effects[1:])
        low, high = np.percentile(effects[1:], resampling.CONFIDENCE, axis=0)
        columns = {"score": scores[0, 1:], "baseline": scores[0, 0], "effect": effects[0]}
        columns |= {"ci_low": low, "ci_high": high, "p": p, "p_corrected": corrected}
        variants = {"variant": range(len(predictions.variants))}
        frames.append(tables.tidy(variants, **columns).assign(metric=metric))
    return pd.concat(frames, ignore_index=True).assign(n=len(labels))


def gains(predictions: Predictions, groups: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    """One row per metric and group of variants: the naive and the honest gain of the best one.

    `groups`, int [variant], has the layer within which the best variant is chosen, or -1. With
    them, how well the variants' effects on two halves of the examples agree.
    """
    labels, rows = predictions.labels, []
    for metric in predictions.task.metrics:
        for layer in np.unique(groups):
            choices = predictions.variants[groups == layer]
            row = {"metric": metric, "layer": layer, "choices": len(choices)}
            for measure in (resampling.honest_gain, resampling.half_agreement):
                row |= measure(metric, labels, predictions.baseline, choices, draws, seed)
            rows.append(row)
    return pd.DataFrame(rows).assign(n=len(labels))


def main(logits: Path, scores: Out, gain: Out, bootstrap: int, halves: int, seed: int) -> None:
    """Write a row per split, metric and variant, and the gains of the best variants.

    For all-but-one, the best variant is chosen among the heads of each layer; else among all.
    """
    frame = tables.read(logits, COLUMNS)
    task = TASKS[frame["task"].iloc[0]]
    run_columns = {key: frame[key].iloc[0] for key in ("task", "init", "seed")}
    scored, gained = [], []
    for split, rows in frame.groupby("split", sort=False):
        plain = rows[rows["unit"] == "none"]
        labels, baseline = plain["label"].to_numpy(), _predictions(task, plain)
        for (unit, mode), variants in rows[rows["unit"] != "none"].groupby(["unit", "mode"]):
            cells = variants[list(KEYS)].drop_duplicates().reset_index(drop=True)
            by_variant = _predictions(task, variants).reshape(len(cells), len(labels))
            predictions = Predictions(task, labels, baseline, by_variant)
            columns = {"split": split, "unit": unit, "mode": mode}
            scores_of_unit = score(predictions, bootstrap, seed)
            heads = cells.loc[scores_of_unit.pop("variant"), ["layer", "head"]]
            scored.append(heads.reset_index(drop=True).join(scores_of_unit).assign(**columns))
            groups = cells["layer"] if unit == "all-but-one" else np.full(len(cells), -1)
            gained.append(gains(predictions, np.asarray(groups), halves, seed).assign(**columns))
    tables.write(pd.concat(scored, ignore_index=True).assign(**run_columns), scores)
    tables.write(pd.concat(gained, ignore_index=True).assign(**run_columns), gain)


def _predictions(task: Task, rows: pd.DataFrame) -> np.ndarray:
    return predictions_of(
        task, rows[[f"logit_{label}" for label in range(task.n_labels)]].to_numpy()
    )


if __name__ == "__main__":
    job.run(main, globals())
