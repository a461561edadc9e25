"""Scores with heads disabled: effects with intervals and corrected tests, power, honest gains."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, Task
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.metrics import predictions_of, weighted_scores
from workflow_scripts.core.stats.randomisation import OfMetric, Test

KEYS = ("unit", "mode", "layer", "head")


@dataclass(frozen=True)
class Predictions:
    """What the plain model and its variants predict for the examples of a split."""

    task: Task
    labels: np.ndarray  # [example]
    baseline: np.ndarray  # [example], of the plain model
    variants: np.ndarray  # [variant, example]


def score(
    predictions: Predictions, tests: dict[str, Test], draws: int, seed: int
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """One row per metric and variant: score, baseline, effect (their difference) and its tests.

    ci_low and ci_high are of `draws` samples of examples, on which both are scored, `p_t` of a
    paired t-test over examples (accuracy alone). With the covariances [variant, variant] of the
    effects over the samples, by metric.
    """
    labels = predictions.labels
    both = np.concatenate([predictions.baseline[None], predictions.variants])
    weights = stats_bootstrap.observed_and_resampled(len(labels), draws, seed)
    frames, covariances = [], {}
    for metric in predictions.task.metrics:
        scores = weighted_scores(metric, labels, both, weights)
        effects = scores[:, 1:] - scores[:, :1]
        low, high = np.percentile(effects[1:], stats_bootstrap.CONFIDENCE, axis=0)
        columns = {"score": scores[0, 1:], "baseline": scores[0, 0], "effect": effects[0]}
        columns |= {"ci_low": low, "ci_high": high} | tests[metric].columns | {"p_t": np.nan}
        if metric == "accuracy":
            columns["p_t"] = t_test((both[1:] == labels).astype(int) - (both[0] == labels))
        variants = {"variant": range(len(predictions.variants))}
        frames.append(tables.tidy(variants, **columns).assign(metric=metric))
        covariances[metric] = np.atleast_2d(np.cov(effects[1:], rowvar=False))
    return pd.concat(frames, ignore_index=True).assign(n=len(labels)), covariances


def t_test(differences: np.ndarray) -> np.ndarray:
    """Two-sided p-values of paired t-tests, [variant], of differences [variant, example]."""
    from scipy.special import stdtr  # the distribution alone loads sooner than scipy.stats

    n = differences.shape[1]
    spread = differences.std(axis=1, ddof=1)
    varies = spread > 0
    t = np.sqrt(n) * differences.mean(axis=1) / np.where(varies, spread, 1.0)
    return np.where(varies, 2 * stdtr(n - 1, -np.abs(t)), 1.0)


def findable(predictions: Predictions, tests: dict[str, Test], seed: int) -> pd.DataFrame:
    """One row per metric: the smallest loss that the test finds with a power of 80%.

    `critical` is the p-value up to which a variant is significant after correction, `changed` the
    median share of predictions that a variant changes.
    """
    labels, rows, breaking = predictions.labels, [], randomisation.less_alike
    breaks = (randomisation.made_wrong if predictions.task.labels else breaking)(labels)
    changed = (predictions.variants != predictions.baseline).mean(axis=1)
    for metric, of_metric in tests.items():
        arguments = OfMetric(metric, labels), predictions.baseline, predictions.variants, breaks
        loss = randomisation.smallest_loss(*arguments, of_metric.critical, seed)
        row = {"metric": metric, "variants": len(changed), "changed": np.median(changed)}
        rows.append(row | {"critical": of_metric.critical, "loss": loss})
    return pd.DataFrame(rows).assign(n=len(labels))


def gains(
    predictions: Predictions, groups: np.ndarray, divisions: int, draws: int, seed: int
) -> pd.DataFrame:
    """Per metric and group: naive and honest gain of the best variant, agreement of halves."""
    labels, rows = predictions.labels, []
    for metric in predictions.task.metrics:
        for layer in np.unique(groups):
            choices = predictions.variants[groups == layer]
            row = {"metric": metric, "layer": layer, "choices": len(choices)}
            both = np.concatenate([predictions.baseline[None], choices])
            scores = partial(weighted_scores, metric, labels, both)
            halves = stats_bootstrap.divided(scores, len(labels), divisions, seed)
            row |= stats_bootstrap.honest_gain(scores, len(labels), halves, draws, seed)
            row |= stats_bootstrap.half_agreement(halves)
            rows.append(row)
    return pd.DataFrame(rows).assign(n=len(labels))


def main(
    logits: Path,
    scores: job.Out,
    gain: job.Out,
    found: job.Out,
    covariance: job.Out,
    bootstrap: int,
    permutations: int,
    halves: int,
    seed: int,
) -> None:
    """Write a row per split, metric and variant, the gains of the best variants, and the power.

    For all-but-one, the best variant is chosen among the heads of each layer; else among all.
    """
    frame = tables.read(logits)
    task = TASKS[frame["task"].iloc[0]]
    run_columns = {key: frame[key].iloc[0] for key in ("task", "seed")}
    parts: dict[job.Out, list[pd.DataFrame]] = {scores: [], gain: [], found: [], covariance: []}
    for split, rows in frame.groupby("split", sort=False):
        plain = rows[rows["unit"] == "none"]
        labels, baseline = plain["label"].to_numpy(), _predictions(task, plain)
        for (unit, mode), variants in rows[rows["unit"] != "none"].groupby(["unit", "mode"]):
            cells = variants[list(KEYS)].drop_duplicates().reset_index(drop=True)
            by_variant = _predictions(task, variants).reshape(len(cells), len(labels))
            predictions = Predictions(task, labels, baseline, by_variant)
            columns = {"split": split, "unit": unit, "mode": mode}
            both = baseline, by_variant, permutations, seed
            tests = {
                name: randomisation.test(OfMetric(name, labels), *both) for name in task.metrics
            }
            scored, covariances = score(predictions, tests, bootstrap, seed)
            heads = cells.loc[scored.pop("variant"), ["layer", "head"]].reset_index(drop=True)
            parts[scores].append(heads.join(scored).assign(**columns))
            groups = cells["layer"] if unit == "all-but-one" else np.full(len(cells), -1)
            gained = gains(predictions, np.asarray(groups), halves, bootstrap, seed)
            parts[gain].append(gained.assign(**columns))
            parts[found].append(findable(predictions, tests, seed).assign(**columns))
            if (split, unit) == ("dev", "head"):  # a row for each two heads
                other = cells[["layer", "head"]].add_prefix("other_")
                pairs = cells[["layer", "head"]].merge(other, "cross")
                values = covariances[task.main_metric].ravel()
                parts[covariance].append(pairs.assign(covariance=values, mode=mode))
    for out, frames in parts.items():
        tables.write(pd.concat(frames, ignore_index=True).assign(**run_columns), out)


def _predictions(task: Task, rows: pd.DataFrame) -> np.ndarray:
    columns = [f"logit_{label}" for label in range(task.n_labels)]
    return predictions_of(task, rows[columns].to_numpy())


if __name__ == "__main__":
    job.run(main, globals())
