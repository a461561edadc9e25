"""The GLUE tasks of Kovaleva et al. (2019, section 3), and their prepared tables."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import Example

COLUMNS = ("split", "id", "source", "text1", "text2", "label")
BEST_SCORE = 5.0  # of STS-B; the lowest is 0


@dataclass(frozen=True)
class Task:
    """One task: how people write it, its columns in the official TSV files and its classes.

    `labels` are the classes as the files spell them, in the order of their numbers, empty where
    the label is a score from 0 to BEST_SCORE. `ids` name a row; empty where the task has no ids.
    `files` maps each split to its official file, `hub` names the hub's text columns. Where
    `malformed` is true, official files have malformed rows, which are left out and counted.
    """

    title: str
    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...]
    ids: tuple[str, ...]
    metrics: tuple[str, ...]
    hub: tuple[str, ...]
    files: dict[str, str] = field(default_factory=lambda: {"train": "train.tsv", "dev": "dev.tsv"})
    hub_splits: dict[str, str] = field(
        default_factory=lambda: {"train": "train", "dev": "validation"}
    )
    malformed: bool = False

    @property
    def main_metric(self) -> str:
        """The metric that figures show where there is room for one."""
        return self.metrics[0]

    @property
    def n_labels(self) -> int:
        """Outputs of a classifier: one for a score."""
        return len(self.labels) or 1


_PAIR = ("sentence1", "sentence2")
_ENTAILED = ("entailment", "not_entailment")
TASKS: dict[str, Task] = {
    "mrpc": Task(
        "MRPC",
        ("#1 String", "#2 String"),
        "Quality",
        ("0", "1"),
        ("#1 ID", "#2 ID"),
        ("f1", "accuracy"),
        _PAIR,
    ),
    "stsb": Task("STS-B", _PAIR, "score", (), ("index",), ("pearson", "spearman"), _PAIR),
    "sst2": Task("SST-2", ("sentence",), "label", ("0", "1"), (), ("accuracy",), ("sentence",)),
    "qqp": Task(
        "QQP",
        ("question1", "question2"),
        "is_duplicate",
        ("0", "1"),
        ("id",),
        ("f1", "accuracy"),
        ("question1", "question2"),
        malformed=True,
    ),
    "rte": Task("RTE", _PAIR, "label", _ENTAILED, ("index",), ("accuracy",), _PAIR),
    "qnli": Task(
        "QNLI",
        ("question", "sentence"),
        "label",
        _ENTAILED,
        ("index",),
        ("accuracy",),
        ("question", "sentence"),
    ),
    "mnli": Task(
        "MNLI",
        _PAIR,
        "gold_label",
        ("entailment", "neutral", "contradiction"),
        ("index",),
        ("accuracy",),
        ("premise", "hypothesis"),
        {
            "train": "train.tsv",
            "dev": "dev_matched.tsv",
            "dev_mismatched": "dev_mismatched.tsv",
        },
        {
            "train": "train",
            "dev": "validation_matched",
            "dev_mismatched": "validation_mismatched",
        },
    ),
}


def read_task(path: Path) -> pd.DataFrame:
    """The prepared table of a task: one row per example, COLUMNS; text2 is empty without a pair."""
    return tables.read(path, COLUMNS)


def present(frame: pd.DataFrame) -> list[str]:
    """The tasks that the column `task` of a table names, in the papers' order."""
    return [name for name in TASKS if name in set(frame["task"])]


def split_of(frame: pd.DataFrame, split: str) -> pd.DataFrame:
    """The rows of one split, numbered anew."""
    return frame[frame["split"] == split].reset_index(drop=True)


def texts_of(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """The one or two texts of each row."""
    pairs = zip(frame["text1"], frame["text2"], strict=True)
    return [(one, two) if two else (one,) for one, two in pairs]


def to_examples(frame: pd.DataFrame) -> list[Example]:
    """The rows as a model's inputs."""
    places = zip(frame["id"], frame["source"], texts_of(frame), strict=True)
    return [Example(id_, id_, source, texts) for id_, source, texts in places]
