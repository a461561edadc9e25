"""The products of a study that claims are judged by, found by name."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables


class NotMeasured(Exception):
    """What a claim is about is not part of the study."""


class Products:
    """Printed tables by their name, other tables as <chapter>/<name>, each read once."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Find the tables at `paths`."""
        self._paths = {self._name(path): path for path in paths}
        self._frames: dict[str, pd.DataFrame] = {}

    @staticmethod
    def _name(path: Path) -> str:
        return path.stem if path.suffix == ".csv" else f"{path.parent.name}/{path.stem}"

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The table. Raises NotMeasured where the study has none of this name."""
        if name not in self._paths:
            raise NotMeasured(f"the study has no {name}")
        if name not in self._frames:
            path = self._paths[name]
            reader = pd.read_csv if path.suffix == ".csv" else tables.read
            self._frames[name] = reader(path)
        return self._frames[name]

    def matching(self, pattern: str) -> pd.DataFrame:
        """All tables whose names match, concatenated. Raises NotMeasured where there is none."""
        names = [name for name in self._paths if fnmatch(name, pattern)]
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
