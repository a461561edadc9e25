"""Kovaleva et al. 2019, section 4.1: how well maps are classified, and the classes' shares."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import wilson
from workflow_scripts.patterns.pattern_rules import CLASSES

PAPER_F1 = 0.86  # the paper's network, on the paper's maps


def classifier_table(folds: pd.DataFrame) -> pd.DataFrame:
    """One row per method: mean macro F1 over folds and its standard deviation, and accuracy.

    The accuracy is of all maps; its interval is Wilson's.
    """
    groups = folds.groupby("method", sort=False)
    frame = groups["macro_f1"].agg(["mean", "std", "min", "max"]).add_prefix("macro_f1_")
    frame["folds"], frame["n"] = groups.size(), groups["n"].sum()
    right = (folds["accuracy"] * folds["n"]).groupby(folds["method"], sort=False).sum().round()
    frame["accuracy"] = right / frame["n"]
    ends = [wilson(int(count), int(n)) for count, n in zip(right, frame["n"], strict=True)]
    frame["accuracy_low"], frame["accuracy_high"] = zip(*ends, strict=True)
    frame["paper"] = [PAPER_F1 if method == "network" else None for method in frame.index]
    return frame.reset_index()


def shares_table(shares: pd.DataFrame) -> pd.DataFrame:
    """One row per task, stage and method: the classes' shares of all maps, in percent.

    annotated_model and annotated_stage are of the maps that the network learnt from.
    """
    keys = ["task", "stage", "method", "annotated_model", "annotated_stage"]
    frame = shares.groupby([*keys, "class"], sort=False)["share"].mean().mul(100)
    frame = frame.unstack("class")[list(CLASSES)].reset_index()
    frame.loc[frame["method"] == "rules", ["annotated_model", "annotated_stage"]] = None
    rank = {name: number for number, name in enumerate(TASKS)}
    frame = frame.sort_values("task", key=lambda names: names.map(rank), kind="stable")
    return frame.assign(task=frame["task"].map({name: task.title for name, task in TASKS.items()}))


def main(folds: Path, shares: Path, classifier: Out, table: Out) -> None:
    """Write both tables."""
    tables.write_csv(
        classifier_table(tables.read(folds, ("method", "macro_f1", "accuracy", "n"))), classifier
    )
    tables.write_csv(shares_table(tables.read(shares)).round(1), table)


if __name__ == "__main__":
    job.run(main, globals())
