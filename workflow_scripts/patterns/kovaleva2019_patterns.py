"""Kovaleva et al. 2019, section 4.1: how well maps are classified, and the classes' shares."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, document_weights
from workflow_scripts.patterns.annotated_maps import CLASSES, STAGES

PAPER_F1 = 0.86  # the paper's network, on the paper's maps, which are of fine-tuned models
COLUMNS = ("method", "stage", "group", "label", "given")
METHODS = ("network", "rules")


def macro_f1(labels: np.ndarray, given: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Macro F1 of each sample, [draw], of classes [map] and weights [draw, map].

    Over the classes among the labels, without those that a sample neither has nor is given.
    """
    weights, scores = weights.astype(float), []
    for name in np.unique(labels):
        true, positive = labels == name, given == name
        either = weights @ (true.astype(float) + positive)
        right = 2 * weights @ (true & positive)
        scores.append(np.divide(right, either, out=np.full(len(right), np.nan), where=either > 0))
    return np.nanmean(scores, axis=0)


def scores_of(maps: pd.DataFrame, draws: int, seed: int) -> dict[str, float]:
    """Macro F1 and accuracy of the maps' classes, with 95% intervals that resample examples."""
    labels, given = maps["label"].to_numpy(), maps["given"].to_numpy()
    weights = document_weights(maps["group"].to_numpy(), draws, seed)
    once = np.ones((1, len(maps)))
    row: dict[str, float] = {}
    for name, score in (("macro_f1", macro_f1), ("accuracy", _accuracy)):
        row[name] = float(score(labels, given, once)[0])
        ends = np.percentile(score(labels, given, weights), CONFIDENCE)
        row[f"{name}_low"], row[f"{name}_high"] = ends
    return row | {"n": len(maps), "n_examples": maps["group"].nunique()}


def _accuracy(labels: np.ndarray, given: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights @ (labels == given) / weights.sum(axis=1)


def classifier_table(predictions: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per method and kind of maps: all, pretrained, fine-tuned, as far as there are any."""
    rows = []
    for method, of_method in predictions.groupby("method", sort=False):
        stages = [stage for stage in STAGES if (of_method["stage"] == stage).any()]
        for name in ("all", *stages) if len(stages) > 1 else stages:
            maps = of_method if name == "all" else of_method[of_method["stage"] == name]
            compared = method == "network" and name == STAGES[1]
            row = {"method": method, "maps": name} | scores_of(maps, draws, seed)
            rows.append(row | {"paper": PAPER_F1 if compared else None})
    return pd.DataFrame(rows)


def shares_table(shares: pd.DataFrame) -> pd.DataFrame:
    """One row per task, stage and class: its share of all maps, in percent, by both methods.

    `both` is the share of maps that both give the class, `agreement` that share of the maps that
    either gives it.
    """
    keys = ["task", "stage", "class", "annotated_model", "annotated_stage"]
    percent = 100 * shares.groupby([*keys, "method"], sort=False)[["share", "both"]].mean()
    frame = percent["share"].unstack("method")[list(METHODS)]
    frame["both"] = percent["both"].unstack("method")[METHODS[0]]  # in the rows of either method
    either = frame["network"] + frame["rules"] - frame["both"]
    frame["agreement"] = 100 * frame["both"] / either.where(either > 1e-9)
    rank = {name: number for number, name in enumerate((*TASKS, *STAGES, *CLASSES))}
    order = frame.reset_index().sort_values(
        keys[:3], key=lambda names: names.map(rank), kind="stable"
    )
    columns = ["task", "stage", "class", *METHODS, "both", "agreement", *keys[3:]]
    titles = {name: task.title for name, task in TASKS.items()}
    return order[columns].assign(task=order["task"].map(titles)).rename_axis(columns=None)


def main(
    predictions: Path, shares: Path, classifier: Out, table: Out, draws: int, seed: int
) -> None:
    """Write both tables."""
    frame = tables.read(predictions, COLUMNS)
    tables.write_csv(classifier_table(frame, draws, seed), classifier)
    tables.write_csv(shares_table(tables.read(shares)).round(1), table)


if __name__ == "__main__":
    job.run(main, globals())
