"""The prepared table of the argument reasoning comprehension task (ARCT; Niven and Kao 2019)."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables

TEXTS = ("claim", "reason", "warrant0", "warrant1")
COLUMNS = ("split", "version", "id", "source", *TEXTS, "label")
SPLITS = ("train", "dev", "test")
# A point as published; with its claim negated and its label flipped (the adversarial set, section
# 6); with its warrants swapped and its label flipped.
VERSIONS = ("original", "negated", "swapped")
# The versions that a training and a development set consist of, by the name of the training set.
TRAINED_ON = {
    "original": (("original",), ("original",)),
    "swapped": (("original", "swapped"), ("original", "negated")),
    "negated": (("original", "negated"), ("original", "negated")),
}


def read_arct(path: Path) -> pd.DataFrame:
    """The prepared points, one row each: COLUMNS; `label` is 0 or 1, the right warrant's number."""
    return tables.read(path, COLUMNS)


def points_of(frame: pd.DataFrame, split: str, versions: tuple[str, ...]) -> pd.DataFrame:
    """The points of a split in these versions, with a new index."""
    chosen = (frame["split"] == split) & frame["version"].isin(versions)
    return frame[chosen].reset_index(drop=True)


def splits_of(frame: pd.DataFrame) -> list[str]:
    """The splits that the table has, training first."""
    return [split for split in SPLITS if (frame["split"] == split).any()]


def held_out(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The original points of each split but the training set."""
    return [points_of(frame, split, ("original",)) for split in splits_of(frame)[1:]]


def held_out_parts(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The held-out rows of a table of points by name: all together first, then the test set alone.

    `dev and test` and `test`, or `dev` where the study has no test set.
    """
    splits = [split for split in splits_of(frame) if split != SPLITS[0]]
    rows = frame[frame["split"].isin(splits)]
    parts = {" and ".join(splits): rows}
    return parts | {splits[-1]: rows[rows["split"] == splits[-1]]}


def last_split(frame: pd.DataFrame) -> str:
    """The split that results are reported on: test, or dev where the study has no test set."""
    return splits_of(frame)[-1]
