"""Our numbers for Table 1 of Kovaleva et al. 2019: scores by initialisation (4.3)."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from workflow_scripts.claims.glue_rows import NAMES, main_rows
from workflow_scripts.claims.intervals import AT_LEAST, MEAN_OF_ENDS, WIDEST, minus
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured

TABLE = "kovaleva2019-table1"
PAPER_TASKS = ("MRPC", "STS-B", "SST-2", "QQP", "RTE", "QNLI", "MNLI")


def glue_score(products: Products, of: str) -> list[Measured]:
    """A score of Table 1 in percent; `of` is like "MRPC accuracy pretrained_tuned".

    The interval is over examples; the reference is the majority class, or a correlation of 0.
    """
    task, metric, column = of.split()
    row = products.row(TABLE, task=task, metric=metric, split="dev")
    measured = _score(row, column)
    if math.isnan(measured.value):
        raise NotMeasured(f"{TABLE} has no {column} of {task}")
    return [measured]


def _score(row: pd.Series, column: str) -> Measured:
    number = (float(row[f"{column}{end}"]) for end in ("", "_low", "_high"))
    about = "" if row["official"] or row["generated"] else "other data than the task's own"
    more = {"seeds": int(row["seeds"]), "reference": float(row["majority"])}
    more |= {"not_comparable": about, "task": NAMES[row["task"]]}
    if more["seeds"] > 1:
        more["interval"] = MEAN_OF_ENDS
    return Measured(*number, int(row["n"]), "examples", row["task"], **more)


def _gains(products: Products, more: str, less: str) -> Iterator[tuple[pd.Series, Measured]]:
    """For each of the paper's tasks its row and the points from column `less` to `more`."""
    for row in main_rows(products[TABLE]):
        one, other = _score(row, more), _score(row, less)
        if row["task"] not in PAPER_TASKS or math.isnan(one.value - other.value):
            continue
        about = f"{one.value:.1f} against {other.value:.1f}"
        shown = {"seeds": one.seeds, "about": about, "task": one.task, "interval": WIDEST}
        yield row, Measured(*minus(one, other), one.n, "examples", row["task"], **shown)


def table1_gain(products: Products, of: str) -> list[Measured]:
    """Points from one column of Table 1 to another, on each task or on those that `of` names.

    `of` is like "pretrained_tuned over random_tuned", or "... on QNLI RTE".
    """
    columns, _, tasks = of.partition(" on ")
    more, less = columns.split(" over ")
    wanted = tasks.split() or PAPER_TASKS
    return [gain for _, gain in _gains(products, more, less) if gain.case in wanted]


def average_gain(products: Products, of: str) -> list[Measured]:
    """The mean over the paper's seven tasks of the points that table1_gain gives for `of`.

    Tasks have examples of their own, so their intervals' halves add up like standard errors.
    """
    found = list(_gains(products, *of.split(" over ")))
    if len(found) < len(PAPER_TASKS):
        n = len(found)
        raise NotMeasured(f"the average is over {len(PAPER_TASKS)} tasks, {n} of them are here")
    numbers = np.array([(gain.value, gain.low, gain.high) for _, gain in found])
    value = float(numbers[:, 0].mean())
    halves = np.sqrt(((numbers[:, 1:] - numbers[:, :1]) ** 2).sum(axis=0)) / len(found)
    own = all(row["official"] and not row["generated"] for row, _ in found)
    why = "" if own else "other data than the tasks' own"
    n = sum(gain.n or 0 for _, gain in found)
    more = {"case": "seven tasks", "not_comparable": why, "interval": AT_LEAST, "reference": 0.0}
    more["seeds"] = min(gain.seeds or 0 for _, gain in found)
    return [Measured(value, value - halves[0], value + halves[1], n, "examples", **more)]


MEASURES = (glue_score, table1_gain, average_gain)
