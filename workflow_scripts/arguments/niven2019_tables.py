"""Niven and Kao 2019, Tables 1, 3 and 4: accuracy over seeds, with the paper's numbers beside."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments.setups import FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import TRAINED_ON, last_split
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# Mean, standard deviation, median and maximum on the test set, as the authors print them.
TABLE1 = {
    "Human (trained)": (90.9, 11, None, None),
    "Human (untrained)": (79.8, 16, None, None),
    "BERT (Large)": (67.1, 9, 71.2, 77.0),
    "GIST (Choi and Lee 2018)": (71.1, 1, None, None),
    "BERT (Base)": (62.3, 7, 65.1, 68.5),
    "World Knowledge (Botschen et al. 2018)": (56.8, 3, None, 61.0),
    "BoV": (56.4, 2, 56.9, 59.5),
    "BiLSTM": (55.2, 2, 55.2, 59.2),
}
DEV1 = {  # mean and standard deviation on the development set
    "BERT (Large)": (70.1, 5),
    "GIST (Choi and Lee 2018)": (71.6, 1),
    "BERT (Base)": (68.0, 2),
    "World Knowledge (Botschen et al. 2018)": (67.4, 1),
    "BoV": (63.9, 2),
    "BiLSTM": (65.8, 1),
}
TABLE3 = {
    ("bert", "full"): (67.1, 9, 71.2, 77.0),
    ("bert", "W"): (65.6, 5, 67.5, 71.2),
    ("bert", "RW"): (60.0, 10, 57.4, 75.0),
    ("bert", "CW"): (53.2, 9, 50.3, 73.2),
    ("bov", "full"): (56.4, 2, 56.9, 59.5),
    ("bov", "W"): (56.7, 2, 57.2, 60.6),
    ("bov", "RW"): (55.4, 2, 55.7, 57.9),
    ("bov", "CW"): (54.5, 2, 54.4, 58.9),
    ("bilstm", "full"): (55.2, 2, 55.2, 59.2),
    ("bilstm", "W"): (55.0, 2, 54.7, 57.7),
    ("bilstm", "RW"): (54.7, 2, 55.1, 57.7),
    ("bilstm", "CW"): (55.2, 2, 55.0, 60.1),
}
TABLE4 = {  # trained and chosen on the adversarial set
    ("bert", "full"): (50.4, 1, 50.5, 53.3),
    ("bert", "W"): (50.1, 0, 50.1, 50.2),
    ("bert", "RW"): (50.0, 0, 50.0, 50.2),
    ("bert", "CW"): (50.1, 1, 50.0, 51.8),
}
NAMES = ("mean", "sd", "median", "max")


def summary(runs: pd.DataFrame, prefix: str = "") -> dict[str, Any]:
    """Over seeds, in percent: mean, sd, median, max; and without degenerate runs, mean and sd."""
    values, others = 100 * runs["accuracy"], 100 * runs["accuracy"][~runs["degenerate"]]
    numbers = {"mean": values.mean(), "sd": values.std(), "median": values.median()}
    numbers |= {"max": values.max(), "others_mean": others.mean(), "others_sd": others.std()}
    return {prefix + name: value for name, value in numbers.items()}


def paper(numbers: Sequence[float | None] | None, prefix: str = "paper_") -> dict[str, Any]:
    """The paper's numbers; empty cells where it has none."""
    return {prefix + name: value for name, value in zip(NAMES, numbers or (None,) * 4, strict=True)}


def counts(runs: pd.DataFrame) -> dict[str, Any]:
    """How many runs, how many of them degenerate, and their training accuracy in percent."""
    numbers = {"runs": len(runs), "degenerate": int(runs["degenerate"].sum())}
    return numbers | {"train_mean": 100 * runs["train_accuracy"].mean(), "n": runs["n"].iloc[0]}


def select(scores: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    """The rows with these values."""
    for column, value in wanted.items():
        scores = scores[scores[column] == value]
    return scores


def table1(scores: pd.DataFrame, name: str) -> pd.DataFrame:
    """A row for each of the study's families and, below, for each system of the paper.

    `name` is the pretrained model's.
    """
    runs = select(scores, setup="full", trained_on="original", points="original")
    rows = []
    titles = FAMILIES | {"bert": f"BERT ({name})"}
    systems = FAMILIES | {"bert": "BERT (Large)"}
    for family, title in titles.items():
        of_family = select(runs, family=family)
        dev, test = select(of_family, split="dev"), select(of_family, split="test")
        if not len(dev):
            continue
        row = {"model": title} | counts(dev) | summary(dev, "dev_") | summary(test, "test_")
        row["n_test"] = test["n"].iloc[0] if len(test) else None
        rows.append(row | _printed(systems[family]))
    rest = [system for system in TABLE1 if system not in FAMILIES.values()]
    return pd.DataFrame(rows + [{"model": system} | _printed(system) for system in rest])


def _printed(system: str) -> dict[str, Any]:
    mean, sd = DEV1.get(system, (None, None))
    dev = {"paper_dev_mean": mean, "paper_dev_sd": sd}
    return dev | paper(TABLE1[system], "paper_test_")


def table3(scores: pd.DataFrame, split: str) -> pd.DataFrame:
    """A row per family and set-up, trained and measured on the original points."""
    chosen = select(scores, trained_on="original", points="original", split=split)
    rows = []
    for family, setup in itertools.product(FAMILIES, SETUPS):
        runs = select(chosen, family=family, setup=setup)
        if len(runs):
            row = {"model": FAMILIES[family], "setup": TITLES[setup], "split": split}
            rows.append(row | counts(runs) | summary(runs) | paper(TABLE3[family, setup]))
    return pd.DataFrame(rows)


def table4(scores: pd.DataFrame, split: str) -> pd.DataFrame:
    """A row per training set, family and set-up, measured on the adversarial set.

    `original_half` and `negated_half` are the mean accuracies on its two halves.
    """
    chosen, rows = select(scores, split=split), []
    for trained_on, family, setup in itertools.product(TRAINED_ON, FAMILIES, SETUPS):
        runs = select(chosen, family=family, setup=setup, trained_on=trained_on)
        both = select(runs, points="adversarial")
        if not len(both):
            continue
        row = {"trained_on": trained_on, "model": FAMILIES[family]}
        row |= {"setup": TITLES[setup], "split": split} | counts(both) | summary(both)
        for half in ("original", "negated"):
            row[f"{half}_half"] = 100 * select(runs, points=half)["accuracy"].mean()
        numbers = TABLE4.get((family, setup)) if trained_on != "original" else None
        rows.append(row | paper(numbers))
    return pd.DataFrame(rows)


def main(scores: Path, table1_csv: Out, table3_csv: Out, table4_csv: Out, name: str) -> None:
    """Write the tables; Tables 3 and 4 report on the test set, or on dev where there is none."""
    frame = tables.read(scores, ("family", "trained_on", "setup", "points", "split", "accuracy"))
    split = last_split(frame)
    tables.write_csv(table1(frame, name).round(1), table1_csv)
    tables.write_csv(table3(frame, split).round(1), table3_csv)
    tables.write_csv(table4(frame, split).round(1), table4_csv)


if __name__ == "__main__":
    job.run(main, globals())
