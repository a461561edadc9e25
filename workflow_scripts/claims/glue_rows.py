"""The rows of GLUE tasks in printed tables, and their titles."""

from collections.abc import Iterator

import pandas as pd

from workflow_scripts.core.data.glue import TASKS

TITLES = {name: task.title for name, task in TASKS.items()}
NAMES = {title: name for name, title in TITLES.items()}


def main_metric(name: str) -> str:
    """The metric that claims about a task are judged by: accuracy where F1 comes first."""
    task = TASKS[name]
    return "accuracy" if "accuracy" in task.metrics else task.main_metric


def main_rows(table: pd.DataFrame) -> Iterator[pd.Series]:
    """The row of each task's development set and main metric."""
    for name, task in TASKS.items():
        rows = table[(table["task"] == task.title) & (table["metric"] == main_metric(name))]
        yield from (row for _, row in rows[rows["split"] == "dev"].iterrows())
