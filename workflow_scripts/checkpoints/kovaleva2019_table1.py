"""Kovaleva et al. 2019, Table 1: scores before and after fine-tuning, by initialisation."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tables import where
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import CONFIDENCE

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
SCORES = {"score": "x", "other_score": "y"}  # of both columns, as pandas names them
SETS = ["task", "split", "metric"]
# Columns whose difference the paper states something on.
COMPARED = [("pretrained_tuned", "random_tuned"), ("pretrained_tuned", "pretrained")]
COMPARED.append(("pretrained", "random_tuned"))


def table1(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per task, development set and metric, in percent: mean and spread over seeds.

    The spread is the standard deviation, empty for one seed. <column>_low and _high are the means
    over seeds of the ends of each seed's 95% interval over examples. `metrics` has a row per
    checkpoint, stage, split and metric.
    """
    rows = []
    for (task, split, metric), group in metrics.groupby(SETS, sort=False):
        row = {"task": task, "split": split, "metric": metric}
        for column in COLUMNS:
            chosen = _of_column(group, column)
            row[column] = 100 * chosen["value"].mean()
            row[f"{column}_sd"] = 100 * chosen["value"].std()
            row[f"{column}_low"] = 100 * chosen["ci_low"].mean()
            row[f"{column}_high"] = 100 * chosen["ci_high"].mean()
        row["majority"] = 100 * group["majority"].iloc[0]
        row |= {"n": group["n"].iloc[0], "seeds": group["seed"].nunique()}
        paper = PAPER.get((task, metric), (None,) * 3) if split == "dev" else (None,) * 3
        row |= {f"paper_{column}": value for column, value in zip(COLUMNS, paper, strict=True)}
        rows.append(row)
    return _by_task(pd.DataFrame(rows))


def differences(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per task, development set, metric and two of COMPARED, in points.

    `gain` is the first's score minus the second's, of the same seed and the same examples: its mean
    and spread over seeds, and the means of the ends of each seed's 95% interval over examples.
    """
    rows = []
    for names, group in metrics.groupby(SETS, sort=False):
        for column, other in COMPARED:
            of_seeds = _of_column(group, column).merge(_of_column(group, other), on="seed")
            if of_seeds.empty:
                continue
            gain = 100 * (of_seeds["value_x"] - of_seeds["value_y"])
            samples = 100 * (np.stack(of_seeds["samples_x"]) - np.stack(of_seeds["samples_y"]))
            low, high = np.percentile(samples, CONFIDENCE, axis=1).mean(axis=1)
            row = dict(zip(SETS, names, strict=True)) | {"column": column, "other": other}
            row |= {name: 100 * of_seeds[f"value_{end}"].mean() for name, end in SCORES.items()}
            row |= {"gain": gain.mean(), "gain_sd": gain.std(), "gain_low": low, "gain_high": high}
            rows.append(row | {"n": of_seeds["n_x"].iloc[0], "seeds": len(of_seeds)})
    columns = [*SETS, "column", "other", *SCORES, "gain", "gain_sd", "gain_low", "gain_high"]
    return _by_task(pd.DataFrame(rows, columns=[*columns, "n", "seeds"]))


def _of_column(metrics: pd.DataFrame, column: str) -> pd.DataFrame:
    stage, init = COLUMNS[column]
    return where(metrics, stage=stage, init=init)


def _by_task(frame: pd.DataFrame) -> pd.DataFrame:
    rank = {task.title: number for number, task in enumerate(TASKS.values())}
    return frame.sort_values("task", key=lambda titles: titles.map(rank), kind="stable")


def main(metrics: list[Path], counts: list[Path], table: job.Out, gains: job.Out) -> None:
    """Write both tables; `counts` state how many training examples there are, and their origin.

    Those of a task on which the study trains nothing are its reference, and not counted.

    `official` are the task's own files; others are in its place.
    """
    scores = tables.read_all(metrics)
    counted = pd.concat([tables.read_csv(path) for path in counts], ignore_index=True)
    examples = counted[counted["what"] == "examples"]
    trained = examples[examples["split"].isin(("train", "reference"))]
    trained = trained.assign(n_train=trained["n"].where(trained["split"] == "train"))
    trained = trained[["task", "n_train", "generated", "official"]]
    for frame, out in ((table1(scores), table), (differences(scores), gains)):
        tables.write_csv(frame.merge(trained, on="task", how="left").round(1), out)


if __name__ == "__main__":
    job.run(main, globals())
