"""Scores of ablated heads: reading them, and the rows that figures and tables show."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS

COLUMNS = ("task", "seed", "split", "unit", "mode", "layer", "head", "metric", "effect")
METRICS = {
    "f1": "F1",
    "accuracy": "Accuracy",
    "matthews": "Matthews",
    "pearson": "Pearson",
    "spearman": "Spearman",
}


def read_scores(paths: Sequence[Path], unit: str) -> pd.DataFrame:
    """The scores of one unit, of all sweeps."""
    frame = tables.read_all(paths, COLUMNS)
    return frame[frame["unit"] == unit].reset_index(drop=True)


def on_main_metric(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task's main metric."""
    main = frame["task"].map({name: task.main_metric for name, task in TASKS.items()})
    return frame[frame["metric"] == main]


def main_rows(frame: pd.DataFrame, mode: str) -> pd.DataFrame:
    """The rows of a mode on the first development set and of each task's main metric."""
    return on_main_metric(frame[(frame["split"] == "dev") & (frame["mode"] == mode)])


def title_of(task: str) -> str:
    """A task and its main metric, as the title of a panel."""
    return f"{TASKS[task].title} ({METRICS[TASKS[task].main_metric]})"


def over_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds: one row per task, split, unit, mode, layer, head and metric."""
    keys = ["task", "split", "unit", "mode", "layer", "head", "metric"]
    return frame.groupby(keys, sort=False, as_index=False).mean(numeric_only=True)
