"""Niven and Kao 2019, Tables 1, 3 and 4: accuracy over seeds, next to the paper's numbers.

Runs, and the degenerate ones among them, are of the published accuracies: with less than 80% in
training. The five of BERT-large's twenty are in the text too; BoV and BiLSTM have no such bound.
"""

import itertools
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments.wording import FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import TRAINED_ON, last_split
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

Numbers = tuple[float | None, ...]

# Mean, standard deviation, median and maximum on the test set, in percent.
TABLE1: dict[str, Numbers] = {
    "Human (trained)": (90.9, 11, None, None),
    "Human (untrained)": (79.8, 16, None, None),
    "BERT (Large)": (67.1, 9, 71.2, 77.0),
    "GIST (Choi and Lee 2018)": (71.1, 1, None, None),
    "BERT (Base)": (62.3, 7, 65.1, 68.5),
    "World Knowledge (Botschen et al. 2018)": (56.8, 3, None, 61.0),
    "BoV": (56.4, 2, 56.9, 59.5),
    "BiLSTM": (55.2, 2, 55.2, 59.2),
}
DEV1: dict[str, Numbers] = {  # mean and standard deviation on the development set
    "BERT (Large)": (70.1, 5),
    "GIST (Choi and Lee 2018)": (71.6, 1),
    "BERT (Base)": (68.0, 2),
    "World Knowledge (Botschen et al. 2018)": (67.4, 1),
    "BoV": (63.9, 2),
    "BiLSTM": (65.8, 1),
}
# As in Table 1; then the number of runs, and of degenerate ones.
TABLE3: dict[tuple[str, str], Numbers] = {
    ("BERT (Large)", "full"): (67.1, 9, 71.2, 77.0, 20, 5),
    ("BERT (Large)", "W"): (65.6, 5, 67.5, 71.2, 20, 3),
    ("BERT (Large)", "RW"): (60.0, 10, 57.4, 75.0, 20, 13),
    ("BERT (Large)", "CW"): (53.2, 9, 50.3, 73.2, 12, 10),
    ("BERT (Base)", "full"): (62.3, 7, 65.1, 68.5, 20, 5),  # of Table 1
    ("BoV", "full"): (56.4, 2, 56.9, 59.5, 20, None),
    ("BoV", "W"): (56.7, 2, 57.2, 60.6, 20, None),
    ("BoV", "RW"): (55.4, 2, 55.7, 57.9, 20, None),
    ("BoV", "CW"): (54.5, 2, 54.4, 58.9, 20, None),
    ("BiLSTM", "full"): (55.2, 2, 55.2, 59.2, 20, None),
    ("BiLSTM", "W"): (55.0, 2, 54.7, 57.7, 20, None),
    ("BiLSTM", "RW"): (54.7, 2, 55.1, 57.7, 20, None),
    ("BiLSTM", "CW"): (55.2, 2, 55.0, 60.1, 20, None),
}
TABLE4: dict[tuple[str, str], Numbers] = {  # trained and chosen on the adversarial set
    ("BERT (Large)", "full"): (50.4, 1, 50.5, 53.3, 20, 18),
    ("BERT (Large)", "W"): (50.1, 0, 50.1, 50.2, 20, 14),
    ("BERT (Large)", "RW"): (50.0, 0, 50.0, 50.2, 20, 19),
    ("BERT (Large)", "CW"): (50.1, 1, 50.0, 51.8, 20, 16),
}
OTHERS: dict[tuple[str, str], Numbers] = {  # mean and standard deviation of runs not degenerate
    ("BERT (Large)", "full"): (71.6, 4),  # in the caption of Table 1; 71.5 in the authors' runs
}
NAMES = ("mean", "sd", "median", "max", "others_mean", "others_sd")
# The paper's models by architecture, layers and hidden size, as a model's card states them.
SYSTEMS = {("bert", 24, 1024): "BERT (Large)", ("bert", 12, 768): "BERT (Base)"}


def columns(
    printed: Numbers | None, others: Numbers = (None, None), prefix: str = "paper_"
) -> dict[str, Any]:
    """The paper's numbers of a system and set-up by column; empty cells where it has none."""
    *numbers, runs, degenerate = printed or (None,) * 6
    named = dict(zip(NAMES, (*numbers, *others), strict=True))
    counts = {"paper_runs": runs, "paper_degenerate": degenerate}
    return {f"{prefix}{name}": value for name, value in named.items()} | counts


def summary(runs: pd.DataFrame, prefix: str = "") -> dict[str, Any]:
    """Over seeds, in percent: mean, sd, median, max; and without degenerate runs, mean and sd."""
    values, others = 100 * runs["accuracy"], 100 * runs["accuracy"][~runs["degenerate"]]
    numbers = *values.agg(["mean", "std", "median", "max"]), *others.agg(["mean", "std"])
    return {prefix + name: value for name, value in zip(NAMES, numbers, strict=True)}


def counts(runs: pd.DataFrame) -> dict[str, Any]:
    """How many runs, how many of them degenerate, and their training accuracy in percent."""
    numbers = {"runs": len(runs), "degenerate": int(runs["degenerate"].sum())}
    return numbers | {"train_mean": 100 * runs["train_accuracy"].mean(), "n": runs["n"].iloc[0]}


def table1(scores: pd.DataFrame, name: str, system: str | None) -> pd.DataFrame:
    """A row for each of the study's families, and for each system of the paper but `system`."""
    runs = tables.where(scores, setup="full", trained_on="original", points="original")
    rows, titles = [], FAMILIES | {"bert": f"BERT ({name})"}
    systems = FAMILIES | {"bert": system}
    for family, title in titles.items():
        of_family = tables.where(runs, family=family)
        dev, test = tables.where(of_family, split="dev"), tables.where(of_family, split="test")
        if not len(dev):
            continue
        row = {"model": title} | counts(dev) | summary(dev, "dev_") | summary(test, "test_")
        row["n_test"] = test["n"].iloc[0] if len(test) else None
        rows.append(row | _printed(systems[family]))
    rest = [other for other in TABLE1 if other not in systems.values()]
    return pd.DataFrame(rows + [{"model": other} | _printed(other) for other in rest])


def _printed(system: str | None) -> dict[str, Any]:
    mean, sd = DEV1.get(system, (None, None))
    numbers = *TABLE1.get(system, (None,) * 4), *TABLE3.get((system, "full"), (None,) * 6)[4:]
    test = columns(numbers, OTHERS.get((system, "full"), (None, None)), "paper_test_")
    return {"paper_dev_mean": mean, "paper_dev_sd": sd} | test


def table3(scores: pd.DataFrame, split: str, system: str | None) -> pd.DataFrame:
    """A row per family and set-up, trained and measured on original points, and of the paper's."""
    chosen = tables.where(scores, trained_on="original", points="original", split=split)
    systems = FAMILIES | {"bert": system}
    rows = []
    for family, setup in itertools.product(FAMILIES, SETUPS):
        runs = tables.where(chosen, family=family, setup=setup)
        if len(runs):
            row = {"model": FAMILIES[family], "setup": TITLES[setup], "split": split}
            key = systems[family], setup
            rows.append(row | counts(runs) | summary(runs) | _table3(key))
    rows += [
        {"model": key[0], "setup": TITLES[key[1]], "split": "test"} | _table3(key)
        for key in TABLE3
        if key[0] not in systems.values()
    ]
    return pd.DataFrame(rows)


def _table3(key: tuple[str | None, str]) -> dict[str, Any]:
    return columns(TABLE3.get(key), OTHERS.get(key, (None, None)))


def table4(scores: pd.DataFrame, split: str, system: str | None) -> pd.DataFrame:
    """A row per training set, family and set-up, on the adversarial set and on its two halves."""
    chosen, rows = tables.where(scores, split=split), []
    for trained_on, family, setup in itertools.product(TRAINED_ON, FAMILIES, SETUPS):
        runs = tables.where(chosen, family=family, setup=setup, trained_on=trained_on)
        both = tables.where(runs, points="adversarial")
        if not len(both):
            continue
        row = {"trained_on": trained_on, "model": FAMILIES[family]}
        row |= {"setup": TITLES[setup], "split": split} | counts(both) | summary(both)
        for half in ("original", "negated"):
            row[f"{half}_half"] = 100 * tables.where(runs, points=half)["accuracy"].mean()
        key = system if family == "bert" and trained_on != "original" else None, setup
        rows.append(row | columns(TABLE4.get(key)))
    about = {"trained_on": "adversarial", "split": "test"}
    rows += [
        about | {"model": key[0], "setup": TITLES[key[1]]} | columns(printed)
        for key, printed in TABLE4.items()
        if key[0] != system and rows
    ]
    return pd.DataFrame(rows)


def main(
    scores: Path, model: Path, table1_csv: Out, table3_csv: Out, table4_csv: Out, name: str
) -> None:
    """Write the tables; Tables 3 and 4 report on the test set, or on dev where there is none."""
    frame = tables.read(scores)
    split, card = last_split(frame), read_card(model)
    system = SYSTEMS.get((card["architecture"], card["n_layers"], card["hidden_size"]))
    tables.write_csv(table1(frame, name, system).round(1), table1_csv)
    tables.write_csv(table3(frame, split, system).round(1), table3_csv)
    tables.write_csv(table4(frame, split, system).round(1), table4_csv)


if __name__ == "__main__":
    job.run(main, globals())
