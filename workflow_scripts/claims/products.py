"""The products of a study that claims are judged by, found by name."""

import re

import pandas as pd

from workflow_scripts.core.measures.forms import Table
from workflow_scripts.core.measures.tables import TableSet


class NotMeasured(Exception):
    """What a claim is about is not part of the study."""


class Products(TableSet):
    """Tables that chapters declare and, by their names, printed ones; each read once."""

    def __getitem__(self, table: str | Table) -> pd.DataFrame:
        """The table. Raises NotMeasured where the study lacks it."""
        file = table if isinstance(table, Table) else f"tables/{table}.csv"
        if file not in self:
            raise NotMeasured(f"the study has no {_name(table)}")
        return super().__getitem__(file)

    def all_of(self, *tables: Table, named: str = "") -> pd.DataFrame:
        """All runs' rows of the declared tables. Raises NotMeasured where there is none.

        The message names them as `named`, or else the first.
        """
        found = [one for table in tables for one in self.each(table)]
        if not found:
            raise NotMeasured(f"the study has no {named or _name(tables[0])}")
        return pd.concat([self[one] for one in found], ignore_index=True)

    def row(self, table: str | Table, **wanted: object) -> pd.Series:
        """The row of a table with these values. Raises NotMeasured where it has none."""
        rows = self.rows(table, **wanted)
        if len(rows) > 1:
            raise ValueError(f"{_name(table)} has {len(rows)} rows with {wanted}")
        return rows.iloc[0]

    def rows(self, table: str | Table, **wanted: object) -> pd.DataFrame:
        """The rows of a table with these values. Raises NotMeasured where it has none."""
        rows = self[table]
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise NotMeasured(f"{_name(table)} has no {wanted}")
        return rows


def _name(table: str | Table) -> str:
    """A table as messages name it: "finetuning/*.similarity" is that of any task and seed."""
    if isinstance(table, str):
        return table
    return re.sub("<.*>", "*", table.name.removeprefix("tables/"))
