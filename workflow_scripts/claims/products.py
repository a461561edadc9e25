"""The measures of claims, and the products of a study that they read, found by name."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.tables import where
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.measures.forms import Table, TableSet

TITLES = {name: task.title for name, task in TASKS.items()}
NAMES = {title: name for name, title in TITLES.items()}
TEXT = "text"  # what decoders are measured on instead of a task
PAPER_LAYERS = 12  # of BERT-base, whose layers the claims name
# Tables that chapters declare, and by their names printed ones.
AnyTable = str | Table
Cases = Iterator[Measured]
# The number for a claim, those of its cases, or none.
Numbers = Callable[..., Measured | Iterable[Measured] | None]


class Measure(NamedTuple):
    """A function that gives our number for a claim, one for each case, and the tables it reads.

    It takes the study's products, and as further arguments what the claim's file has in the columns
    of their names.
    """

    numbers: Numbers
    tables: tuple[AnyTable, ...]
    if_none: str  # why a claim is not measured where there is no number


MEASURES: dict[str, Measure] = {}


def measure(
    *tables: AnyTable, if_none: str = "no data of that kind"
) -> Callable[[Numbers], Numbers]:
    """Enter the decorated function as the measure of its name; it sees these tables alone."""

    def enter(numbers: Numbers) -> Numbers:
        MEASURES[numbers.__name__] = Measure(numbers, tables, if_none)
        return numbers

    return enter


class NotMeasured(Exception):
    """What a claim is about is not part of the study."""


class Products(TableSet):
    """Tables that measures read, each read once."""

    def only(self, *tables: AnyTable) -> "Products":
        """These tables alone."""
        found = copy.copy(self)
        found._paths = {file: path for file, path in self._paths.items() if is_one_of(file, tables)}
        return found

    def __getitem__(self, table: AnyTable) -> pd.DataFrame:
        """The table. Raises NotMeasured where the study lacks it."""
        file = table if isinstance(table, Table) else f"tables/{table}.csv"
        if file not in self:
            raise NotMeasured(f"no table {_name(table)}")
        return super().__getitem__(file)

    def all_of(self, table: Table, named: str = "", **wanted: object) -> pd.DataFrame:
        """All runs' rows of a declared table with these values, maybe none.

        Raises NotMeasured, with the table's name or what it is `named`, without a table.
        """
        if not (found := self.each(table)):
            raise NotMeasured(f"no {named or 'table ' + _name(table)}")
        return where(pd.concat([self[one] for one in found], ignore_index=True), **wanted)

    def row(self, table: AnyTable, **wanted: object) -> pd.Series:
        """The row of a table with these values. Raises NotMeasured where it has none."""
        rows = self.rows(table, **wanted)
        if len(rows) > 1:
            raise ValueError(f"{_name(table)} has {len(rows)} rows with {wanted}")
        return rows.iloc[0]

    def rows(self, table: AnyTable, **wanted: object) -> pd.DataFrame:
        """The rows of a table with these values. Raises NotMeasured where it has none."""
        rows = where(self[table], **wanted)
        if rows.empty:
            words = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in wanted.items())
            raise NotMeasured(f"{_name(table)} has no row of {words}")
        return rows


def is_one_of(file: str, tables: Iterable[AnyTable]) -> bool:
    """Whether a file, by the end of its path, <chapter>/<name>, is one of the tables."""
    end = "/".join(file.split("/")[-2:])
    return any(
        table.at(end) is not None if isinstance(table, Table) else end == f"tables/{table}.csv"
        for table in tables
    )


def _name(table: AnyTable) -> str:
    """A table as messages name it: "finetuning/*.similarity" is that of any task and seed."""
    if isinstance(table, str):
        return table
    return re.sub("<.*>", "*", table.name.removeprefix("tables/"))


def at_depth(rows: pd.DataFrame, first: int, last: int) -> pd.DataFrame:
    """The rows of layers as deep, in share of the model, as layers `first` to `last` of 12."""
    n_layers = rows["layer"].max() + 1
    middle = (rows["layer"] + 0.5) / n_layers
    return rows[middle.between((first - 1) / PAPER_LAYERS, last / PAPER_LAYERS)]


def layers_of(rows: pd.DataFrame) -> str:
    """The layers of the rows, for people."""
    first, last = rows["layer"].min() + 1, rows["layer"].max() + 1
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def on_task(task: str, rows: pd.DataFrame) -> dict[str, Any]:
    """What is stated of a number on a task: it, and its rows' seeds; nothing of running text."""
    return {} if task == TEXT else {"task": task, "seeds": int(rows["seed"].nunique())}


def main_metric(name: str) -> str:
    """The metric that claims about a task are judged by: accuracy where F1 comes first."""
    task = TASKS[name]
    return "accuracy" if "accuracy" in task.metrics else task.main_metric


def main_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task's development set and main metric, in the order of TITLES."""
    return pd.concat(
        where(table, task=title, metric=main_metric(name), split="dev")
        for name, title in TITLES.items()
    )
