"""A model's tables, each read once, and their numbers head by head."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import Rows, Table

DIGITS = 6  # significant ones of every number of a measure
KEYS = ["layer", "head"]
Columns = dict[str, Any]


class TableSet:
    """Tables by their path below their folder, <chapter>/<name>, each read once."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Those at `paths`, which are of one model or of none."""
        self._paths = {"/".join(path.parts[-2:]): path for path in paths}
        self._frames: dict[str, pd.DataFrame] = {}

    def __contains__(self, table: str | Table) -> bool:
        return _file(table) in self._paths

    def __getitem__(self, table: str | Table) -> pd.DataFrame:
        """The rows. Raises InputError where a column that the table declares is missing."""
        name = _file(table)
        path = self._paths[name]
        if name not in self._frames:
            reader = tables.read_csv if path.suffix == ".csv" else tables.read
            self._frames[name] = reader(path)
        if isinstance(table, Table):
            tables.check_columns(self._frames[name], path, (*table.keys, table.value))
        return self._frames[name]

    def each(self, table: Table) -> list[Table]:
        """The tables that stand at `table`'s path, in the order in which the study gives them."""
        return [one for one in map(table.at, self._paths) if one]


class Tables(TableSet):
    """A model's tables.

    A model with several `types` of attention has a column `type` wherever layer and head are.
    """

    def __init__(self, model: Mapping[str, Any], folder: Path, paths: Sequence[Path]) -> None:
        """Those of `paths` that are in the folder; `model` is what the atlas states about it.

        A model with types of attention is of the study, whose folder is `folder`.
        """
        super().__init__([path for path in paths if path.is_relative_to(folder)])
        self.model, self.folder = model["name"], "." if "types" in model else folder.name
        self.shape = (model["n_layers"], model["n_heads"])
        self.decoder = not model.get("bidirectional", True)
        self.types = {each["name"]: each["n_layers"] for each in model.get("types", [])}
        self.keys = ["type", *KEYS] if self.types else KEYS

    def select(self, rows: Rows) -> pd.DataFrame:
        """The rows of a measure. Raises InputError where a column that it names is missing."""
        frame, column = self[rows.table.file], rows.table.value
        tables.check_columns(frame, self._paths[rows.table.file], (*rows.where, column))
        for key, value in rows.where.items():
            frame = frame[frame[key] == value]
        if rows.table.largest:
            known = frame.dropna(subset=[column])
            frame = known.loc[known.groupby(self.keys)[column].idxmax()]
        return frame

    def per_head(self, rows: pd.DataFrame, column: str) -> list[Any]:
        """A column by head, layer by layer; None for a head without a row.

        Raises InputError where a head has several rows, or is none of the model's.
        """
        n_layers, n_heads = self.shape
        before: int | pd.Series = 0  # the layers of the types before
        if self.types:
            layers = pd.Series(self.types)
            before, n_layers = (rows["type"].map(n) for n in (layers.cumsum() - layers, layers))
        at = (before + rows["layer"]) * n_heads + rows["head"]
        inside = rows["layer"].between(0, n_layers - 1) & rows["head"].between(0, n_heads - 1)
        if at.duplicated().any() or not inside.all():
            raise InputError(
                f"{self.model}: {column} is not given once for each of {self.shape[0]} x {n_heads} "
                "heads; delete the model's tables and run again"
            )
        values: list[Any] = [None] * math.prod(self.shape)
        for place, value in zip(at.astype(int), rows[column], strict=True):
            values[place] = value
        return values


def _file(table: str | Table) -> str:
    return table if isinstance(table, str) else table.file


def alike(values: list[Any]) -> Any:
    """One value, where all heads have the same."""
    return values[0] if all(value == values[0] for value in values) else values


def whole(cells: Sequence[Any]) -> list[int | None]:
    """Whole numbers, as JSON has them: None for an empty cell."""
    return [None if pd.isna(cell) else int(cell) for cell in cells]


def number(cell: Any, factor: float = 1) -> float | int | None:
    """A number with DIGITS significant digits, as JSON has it: None for an empty cell."""
    if pd.isna(cell):
        return None
    rounded = float(f"{float(cell) * factor:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
