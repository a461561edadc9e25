"""Tasks and their prepared tables: GLUE's, the study's own, and ARCT."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workflow_scripts.core.data.annotations import Example

# Of the prepared table of a task, which has a row for each example; text2 may be empty.
TASK_COLUMNS = ("split", "id", "source", "text1", "text2", "label")
VARIABLE = "ATLAS_TASKS"  # of the environment, with the study's own tasks


@dataclass(frozen=True)
class Task:
    """One task: its title, its columns in the files, its classes and its metrics.

    `labels` are the classes as the files spell them, in the order of their numbers, empty if the
    label is a score within `range`. `ids` identify a row; empty if the task has no ids.
    `splits` are the stems of the official files. `columns` names the files' columns if they have no
    header, `hub` the hub's text columns if they differ from `texts`. If `malformed`, the official
    files have malformed rows, which are left out and counted. Where `own`, the study defines the
    task; its texts may be empty, and are then what the files have beside the label. Where
    `numbered`, the files may hold the numbers of labels in place of the labels.
    """

    title: str
    texts: tuple[str, ...] = ("sentence1", "sentence2")
    label: str = "label"
    metrics: tuple[str, ...] = ("accuracy",)
    labels: tuple[str, ...] = ("0", "1")
    ids: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    hub: tuple[str, ...] = ()
    splits: tuple[str, ...] = ("train", "dev")
    malformed: bool = False
    range: tuple[float, float] = (-math.inf, math.inf)
    own: bool = False
    numbered: bool = False

    @property
    def files(self) -> dict[str, str]:
        """The official file of each split; the first development set is `dev`."""
        names = ("train", "dev", *self.splits[2:])
        return {name: f"{stem}.tsv" for name, stem in zip(names, self.splits, strict=True)}

    @property
    def hub_splits(self) -> dict[str, str]:
        """What the hub calls each split."""
        names = [stem.replace("dev", "validation") for stem in self.splits]
        return dict(zip(self.files, names, strict=True))

    @property
    def main_metric(self) -> str:
        """The metric that figures show if there is room for one only."""
        return self.metrics[0]

    @property
    def n_labels(self) -> int:
        """Number of outputs of a classifier: 1 for a score."""
        return len(self.labels) or 1


TASKS: dict[str, Task] = {
    "mrpc": Task(
        "MRPC",
        texts=("#1 String", "#2 String"),
        label="Quality",
        ids=("#1 ID", "#2 ID"),
        metrics=("f1", "accuracy"),
        hub=("sentence1", "sentence2"),
    ),
    "stsb": Task(
        "STS-B",
        label="score",
        labels=(),
        ids=("index",),
        metrics=("pearson", "spearman"),
        range=(0.0, 5.0),
    ),
    "sst2": Task("SST-2", texts=("sentence",)),
    "qqp": Task(
        "QQP",
        texts=("question1", "question2"),
        label="is_duplicate",
        ids=("id",),
        metrics=("f1", "accuracy"),
        malformed=True,
    ),
    "rte": Task("RTE", labels=("entailment", "not_entailment"), ids=("index",)),
    "qnli": Task(
        "QNLI",
        texts=("question", "sentence"),
        labels=("entailment", "not_entailment"),
        ids=("index",),
    ),
    "mnli": Task(
        "MNLI",
        label="gold_label",
        labels=("entailment", "neutral", "contradiction"),
        ids=("index",),
        hub=("premise", "hypothesis"),
        splits=("train", "dev_matched", "dev_mismatched"),
    ),
    # Not among Kovaleva et al.'s; Michel et al. prune heads on it (2019, appendix B).
    "cola": Task(
        "CoLA",
        texts=("sentence",),
        columns=("source", "label", "mark", "sentence"),
        metrics=("matthews", "accuracy"),
    ),
}


def own_task(name: str, entry: Mapping[str, Any]) -> Task:
    """A task that a study defines, of its entry in the config; the title is the study's name."""
    labels = entry["labels"]
    score = labels == "score"
    return Task(
        name,
        texts=tuple(entry.get("text", ())),
        label=entry["label"],
        labels=() if score else tuple(map(str, labels)),
        metrics=("pearson", "spearman") if score else ("accuracy",),
        own=True,
        numbered=entry.get("numbered", False),
    )


# Tables by task are built at import, in the processes of jobs, which inherit the variable.
TASKS |= {
    name: own_task(name, entry) for name, entry in json.loads(os.getenv(VARIABLE, "{}")).items()
}


def present_tasks(frame: pd.DataFrame) -> list[str]:
    """The tasks that the column `task` of a table names, in the papers' order."""
    return [name for name in TASKS if name in set(frame["task"])]


def split_of(frame: pd.DataFrame, split: str) -> pd.DataFrame:
    """The rows of one split, with an index from 0."""
    return frame[frame["split"] == split].reset_index(drop=True)


def texts_of(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """The one or two texts of each row."""
    pairs = zip(frame["text1"], frame["text2"], strict=True)
    return [(first, second) if second else (first,) for first, second in pairs]


def to_examples(frame: pd.DataFrame) -> list[Example]:
    """The rows as a model's inputs."""
    rows = zip(frame["id"], frame["source"], texts_of(frame), strict=True)
    return [Example(id_, document=id_, source=source, texts=texts) for id_, source, texts in rows]


ARCT_TEXTS = ("claim", "reason", "warrant0", "warrant1")
# Of the prepared points, one row each; `label` is the right warrant's number.
ARCT_COLUMNS = ("split", "version", "id", "source", *ARCT_TEXTS, "label")
ARCT_SPLITS = ("train", "dev", "test")
# A point as published; with its claim negated and its label flipped (the adversarial set, section
# 6); with its warrants swapped and its label flipped.
ARCT_VERSIONS = ("original", "negated", "swapped")
# The versions that a training and a development set consist of, by the name of the training set.
TRAINED_ON = {
    "original": (("original",), ("original",)),
    "swapped": (("original", "swapped"), ("original", "negated")),
    "negated": (("original", "negated"), ("original", "negated")),
}


def points_of(frame: pd.DataFrame, split: str, versions: tuple[str, ...]) -> pd.DataFrame:
    """The points of a split in these versions, with a new index."""
    chosen = (frame["split"] == split) & frame["version"].isin(versions)
    return frame[chosen].reset_index(drop=True)


def splits_of(frame: pd.DataFrame) -> list[str]:
    """The splits that the table has, training first."""
    return [split for split in ARCT_SPLITS if (frame["split"] == split).any()]


def held_out(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The original points of each split but the training set."""
    return [points_of(frame, split, ("original",)) for split in splits_of(frame)[1:]]


def held_out_parts(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The held-out rows of a table of points by name: all together first, then the test set alone.

    `dev and test` and `test`, or `dev` where the study has no test set.
    """
    splits = [split for split in splits_of(frame) if split != ARCT_SPLITS[0]]
    rows = frame[frame["split"].isin(splits)]
    parts = {" and ".join(splits): rows}
    return parts | {splits[-1]: rows[rows["split"] == splits[-1]]}


def last_split(frame: pd.DataFrame) -> str:
    """The split that results are reported on: test, or dev where the study has no test set."""
    return splits_of(frame)[-1]
