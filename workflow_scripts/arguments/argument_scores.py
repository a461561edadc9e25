"""Accuracy of every run on ARCT: on each split, its adversarial set and both halves of that."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_SPLITS
from workflow_scripts.core.run import job

RUN = ["family", "trained_on", "setup", "seed"]


def picked(frame: pd.DataFrame) -> pd.Series:
    """The warrant with the larger logit, 0 or 1; a tie counts as warrant 0."""
    return (frame["logit_1"] > frame["logit_0"]).astype(int)


def right(frame: pd.DataFrame) -> pd.Series:
    """Whether the right warrant is picked, bool."""
    return picked(frame) == frame["label"]


def margin(frame: pd.DataFrame) -> pd.Series:
    """The logit of the warrant on `side` minus the other's."""
    return (frame["logit_1"] - frame["logit_0"]) * (2 * frame["side"] - 1)


def measure(frame: pd.DataFrame, degenerate_below: Mapping[str, float]) -> pd.DataFrame:
    """One row per run, split and set of points: accuracy, n, train_accuracy, degenerate.

    The sets (column `points`) are the original points, their negated counterparts, and both, the
    adversarial set; of the training split, the set that the run was trained on.
    """
    frame = frame.assign(right=right(frame))
    train = frame[frame["split"] == "train"].assign(points="training")
    held_out = frame[frame["split"] != "train"]
    parts = [train, held_out.assign(points=held_out["version"])]
    if (held_out["version"] == "negated").any():
        parts.append(held_out.assign(points="adversarial"))
    keys = [*RUN, "split", "points"]
    grouped = pd.concat(parts).groupby(keys, sort=False)["right"]
    scores = grouped.agg(accuracy="mean", n="size").reset_index()
    trained = scores[scores["points"] == "training"].set_index(RUN)["accuracy"]
    scores = scores.join(trained.rename("train_accuracy"), on=RUN)
    scores["split"] = pd.Categorical(scores["split"], ARCT_SPLITS, ordered=True)
    scores["degenerate"] = scores["train_accuracy"] < scores["family"].map(degenerate_below)
    return scores.sort_values([*RUN, "split"], kind="stable").astype({"split": str})


def main(predictions: list[Path], scores: job.Out, degenerate_below: dict[str, float]) -> None:
    """Write the scores of all runs."""
    tables.write(measure(tables.read_all(predictions), degenerate_below), scores)


if __name__ == "__main__":
    job.run(main, globals())
