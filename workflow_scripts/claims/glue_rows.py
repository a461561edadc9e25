"""The rows of GLUE tasks in printed tables, and their titles."""

from collections.abc import Iterator

import pandas as pd

from workflow_scripts.core.data.glue import TASKS

TITLES = {name: task.title for name, task in TASKS.items()}
NAMES = {title: name for name, title in TITLES.items()}


def main_rows(table: pd.DataFrame) -> Iterator[pd.Series]:
    """The row of each task's development set and main metric; accuracy where F1 comes first."""
    for task in TASKS.values():
        metric = "accuracy" if "accuracy" in task.metrics else task.main_metric
        rows = table[(table["task"] == task.title) & (table["metric"] == metric)]
        yield from (row for _, row in rows[rows["split"] == "dev"].iterrows())
