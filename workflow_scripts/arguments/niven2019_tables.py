"""Niven and Kao 2019, Tables 1, 3 and 4: accuracy over seeds, next to the paper's numbers."""

import itertools
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments import paper
from workflow_scripts.arguments.setups import FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import TRAINED_ON, last_split
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def summary(runs: pd.DataFrame, prefix: str = "") -> dict[str, Any]:
    """Over seeds, in percent: mean, sd, median, max; and without degenerate runs, mean and sd."""
    values, others = 100 * runs["accuracy"], 100 * runs["accuracy"][~runs["degenerate"]]
    numbers = {"mean": values.mean(), "sd": values.std(), "median": values.median()}
    numbers |= {"max": values.max(), "others_mean": others.mean(), "others_sd": others.std()}
    return {prefix + name: value for name, value in numbers.items()}


def counts(runs: pd.DataFrame) -> dict[str, Any]:
    """How many runs, how many of them degenerate, and their training accuracy in percent."""
    numbers = {"runs": len(runs), "degenerate": int(runs["degenerate"].sum())}
    return numbers | {"train_mean": 100 * runs["train_accuracy"].mean(), "n": runs["n"].iloc[0]}


def select(scores: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    """The rows with these values."""
    for column, value in wanted.items():
        scores = scores[scores[column] == value]
    return scores


def table1(scores: pd.DataFrame, name: str, system: str | None) -> pd.DataFrame:
    """A row for each of the study's families and, below, for each other system of the paper.

    `name` is the pretrained model's; `system` is the paper's name for it, if it has one: its
    numbers stand in the model's own row.
    """
    runs = select(scores, setup="full", trained_on="original", points="original")
    rows, titles = [], FAMILIES | {"bert": f"BERT ({name})"}
    systems = FAMILIES | {"bert": system}
    for family, title in titles.items():
        of_family = select(runs, family=family)
        dev, test = select(of_family, split="dev"), select(of_family, split="test")
        if not len(dev):
            continue
        row = {"model": title} | counts(dev) | summary(dev, "dev_") | summary(test, "test_")
        row["n_test"] = test["n"].iloc[0] if len(test) else None
        rows.append(row | _printed(systems[family]))
    rest = [other for other in paper.TABLE1 if other not in systems.values()]
    return pd.DataFrame(rows + [{"model": other} | _printed(other) for other in rest])


def _printed(system: str | None) -> dict[str, Any]:
    mean, sd = paper.DEV1.get(system, (None, None))
    dev = {"paper_dev_mean": mean, "paper_dev_sd": sd}
    key = (system, "full")
    numbers = paper.TABLE1.get(system), paper.RUNS.get(key), paper.OTHERS.get(key)
    return dev | paper.columns(*numbers, "paper_test_")


def table3(scores: pd.DataFrame, split: str, system: str | None) -> pd.DataFrame:
    """A row per family and set-up, trained and measured on the original points.

    The paper's BERT has rows of its own where the model is not `system`, one that the paper used.
    """
    chosen = select(scores, trained_on="original", points="original", split=split)
    systems = FAMILIES | {"bert": system}
    rows = []
    for family, setup in itertools.product(FAMILIES, SETUPS):
        runs = select(chosen, family=family, setup=setup)
        if len(runs):
            row = {"model": FAMILIES[family], "setup": TITLES[setup], "split": split}
            row |= counts(runs) | summary(runs)
            rows.append(row | _paper(systems[family], setup, paper.TABLE3, paper.RUNS))
    rows += [
        {"model": other, "setup": TITLES[setup], "split": "test"}
        | _paper(other, setup, paper.TABLE3, paper.RUNS)
        for other, setup in paper.TABLE3
        if other not in systems.values()
    ]
    return pd.DataFrame(rows)


def _paper(system: str | None, setup: str, table: dict, runs: dict) -> dict[str, Any]:
    key = (system, setup)
    others = paper.OTHERS.get(key) if table is paper.TABLE3 else None
    return paper.columns(table.get(key), runs.get(key), others, "paper_")


def table4(scores: pd.DataFrame, split: str, system: str | None) -> pd.DataFrame:
    """A row per training set, family and set-up, measured on the adversarial set.

    `original_half` and `negated_half` are the mean accuracies on its two halves. The paper's BERT
    has rows of its own where the model is not `system`.
    """
    chosen, rows = select(scores, split=split), []
    systems = {"bert": system}
    for trained_on, family, setup in itertools.product(TRAINED_ON, FAMILIES, SETUPS):
        runs = select(chosen, family=family, setup=setup, trained_on=trained_on)
        both = select(runs, points="adversarial")
        if not len(both):
            continue
        row = {"trained_on": trained_on, "model": FAMILIES[family]}
        row |= {"setup": TITLES[setup], "split": split} | counts(both) | summary(both)
        for half in ("original", "negated"):
            row[f"{half}_half"] = 100 * select(runs, points=half)["accuracy"].mean()
        own = systems.get(family) if trained_on != "original" else None
        rows.append(row | _paper(own, setup, paper.TABLE4, paper.RUNS4))
    rows += [
        {"trained_on": "adversarial", "model": other, "setup": TITLES[setup], "split": "test"}
        | _paper(other, setup, paper.TABLE4, paper.RUNS4)
        for other, setup in paper.TABLE4
        if other != system and rows
    ]
    return pd.DataFrame(rows)


def main(
    scores: Path, model: Path, table1_csv: Out, table3_csv: Out, table4_csv: Out, name: str
) -> None:
    """Write the tables; Tables 3 and 4 report on the test set, or on dev where there is none.

    `model` is the model's card, which states whether the paper has used the model.
    """
    frame = tables.read(scores, ("family", "trained_on", "setup", "points", "split", "accuracy"))
    split, system = last_split(frame), paper.system_of(read_card(model))
    tables.write_csv(table1(frame, name, system).round(1), table1_csv)
    tables.write_csv(table3(frame, split, system).round(1), table3_csv)
    tables.write_csv(table4(frame, split, system).round(1), table4_csv)


if __name__ == "__main__":
    job.run(main, globals())
