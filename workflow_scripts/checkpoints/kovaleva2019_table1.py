"""Kovaleva et al. 2019, Table 1: scores before and after fine-tuning, by initialisation."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.run import job

# The paper's own numbers (BERT-base): untrained, from the normal distribution, from pretrained.
# The paper calls STS-B's metric accuracy; it is compared with Pearson's correlation here.
PAPER = {
    ("MRPC", "f1"): (0, 81.2, 87.9),
    ("MRPC", "accuracy"): (31.6, 68.3, 82.3),
    ("STS-B", "pearson"): (33.1, 2.9, 82.7),
    ("SST-2", "accuracy"): (49.1, 80.5, 92),
    ("QQP", "f1"): (0, 0, 65.2),
    ("QQP", "accuracy"): (60.9, 63.2, 78.6),
    ("RTE", "accuracy"): (52.7, 52.7, 64.6),
    ("QNLI", "accuracy"): (52.8, 49.5, 84.4),
    ("MNLI", "accuracy"): (31.7, 61.0, 78.6),
}
COLUMNS = {
    "pretrained": ("untrained", "pretrained"),
    "random_tuned": ("fine-tuned", "random"),
    "pretrained_tuned": ("fine-tuned", "pretrained"),
}


def table1(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per task, development set and metric, in percent: mean and spread over seeds.

    The spread is the standard deviation, empty for one seed. <column>_low and _high are the means
    over seeds of the ends of each seed's 95% interval over examples. `metrics` has a row per
    checkpoint, stage, split and metric.
    """
    rows = []
    for (task, split, metric), group in metrics.groupby(["task", "split", "metric"], sort=False):
        row = {"task": task, "split": split, "metric": metric}
        for column, (stage, init) in COLUMNS.items():
            chosen = group[(group["stage"] == stage) & (group["init"] == init)]
            row[column] = 100 * chosen["value"].mean()
            row[f"{column}_sd"] = 100 * chosen["value"].std()
            row[f"{column}_low"] = 100 * chosen["ci_low"].mean()
            row[f"{column}_high"] = 100 * chosen["ci_high"].mean()
        row["majority"] = 100 * group["majority"].iloc[0]
        row |= {"n": group["n"].iloc[0], "seeds": group["seed"].nunique()}
        paper = PAPER.get((task, metric), (None,) * 3) if split == "dev" else (None,) * 3
        row |= {f"paper_{column}": value for column, value in zip(COLUMNS, paper, strict=True)}
        rows.append(row)
    frame = pd.DataFrame(rows)
    rank = {task.title: number for number, task in enumerate(TASKS.values())}
    return frame.sort_values("task", key=lambda titles: titles.map(rank), kind="stable")


def main(metrics: list[Path], counts: list[Path], table: job.Out) -> None:
    """Write the table; `counts` state how many training examples there are, and of what origin.

    Those of a task on which the study trains nothing are its reference, and not counted.

    `official` are the task's own files; others are in its place.
    """
    frame = table1(pd.concat([tables.read_csv(path) for path in metrics], ignore_index=True))
    counted = pd.concat([tables.read_csv(path) for path in counts], ignore_index=True)
    examples = counted[counted["what"] == "examples"]
    trained = examples[examples["split"].isin(("train", "reference"))]
    trained = trained.assign(n_train=trained["n"].where(trained["split"] == "train"))
    trained = trained[["task", "n_train", "generated", "official"]]
    tables.write_csv(frame.merge(trained, on="task", how="left").round(1), table)


if __name__ == "__main__":
    job.run(main, globals())
