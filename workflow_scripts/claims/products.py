"""The products of a study that claims are judged by, found by name."""

from fnmatch import fnmatch

import pandas as pd

from workflow_scripts.core.measures.tables import TableSet


class NotMeasured(Exception):
    """What a claim is about is not part of the study."""


class Products(TableSet):
    """Printed tables by their name, other tables as <chapter>/<name>, each read once."""

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The table. Raises NotMeasured where the study has none of this name."""
        file = f"{name}.parquet" if "/" in name else f"tables/{name}.csv"
        if file not in self:
            raise NotMeasured(f"the study has no {name}")
        return super().__getitem__(file)

    def matching(self, pattern: str) -> pd.DataFrame:
        """All tables whose names match, concatenated. Raises NotMeasured where there is none."""
        names = [file.removesuffix(".parquet") for file in self._paths]
        names = [name for name in names if fnmatch(name, pattern)]
        if not names:
            raise NotMeasured(f"the study has no {pattern}")
        return pd.concat([self[name] for name in names], ignore_index=True)

    def row(self, name: str, **wanted: object) -> pd.Series:
        """The row of a table with these values. Raises NotMeasured where it has none."""
        rows = self.rows(name, **wanted)
        if len(rows) > 1:
            raise ValueError(f"{name} has {len(rows)} rows with {wanted}")
        return rows.iloc[0]

    def rows(self, name: str, **wanted: object) -> pd.DataFrame:
        """The rows of a table with these values. Raises NotMeasured where it has none."""
        rows = self[name]
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise NotMeasured(f"{name} has no {wanted}")
        return rows
