"""A model's tables, and measures read from them as the atlas has them."""

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.atlas.forms import Form, Rows
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.errors import InputError

DIGITS = 6  # significant ones of every number of a measure
DISTANCE_DIGITS = 5
KEYS = ["layer", "head"]
Columns = dict[str, Any]


class Tables:
    """A model's tables by their path below its folder, each read once.

    A model with several `types` of attention has a column `type` wherever layer and head are.
    """

    def __init__(self, model: Mapping[str, Any], folder: Path, paths: Sequence[Path]) -> None:
        """Those of `paths` that are in the folder; `model` is what the atlas says of it."""
        self.model, self.folder = model["name"], folder.name
        self.shape = (model["n_layers"], model["n_heads"])
        self.types = {each["name"]: each["n_layers"] for each in model.get("types", [])}
        self.keys = ["type", *KEYS] if self.types else KEYS
        inside = [path for path in paths if path.is_relative_to(folder)]
        self._paths = {path.relative_to(folder).as_posix(): path for path in inside}
        self._frames: dict[str, pd.DataFrame] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._paths

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            path = self._paths[name]
            reader = pd.read_csv if path.suffix == ".csv" else tables.read
            self._frames[name] = reader(path)
        return self._frames[name]

    def matching(self, pattern: str) -> list[str]:
        """The names that match, in the order in which the study gives them."""
        return [name for name in self._paths if fnmatchcase(name, pattern)]

    def select(self, rows: Rows) -> pd.DataFrame:
        """The rows of a measure."""
        frame = self[rows.table]
        for column, value in rows.where.items():
            frame = frame[frame[column] == value]
        if rows.largest:
            known = frame.dropna(subset=[rows.column])
            frame = known.loc[known.groupby(self.keys)[rows.column].idxmax()]
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


def entry(form: Form, found: Tables) -> dict[str, Any]:
    """A measure as the atlas has it."""
    if form.compute:
        columns = form.compute(found)
        source = form.rows.place(found.folder) | {"derived": form.derived}
    else:
        columns = read_columns(form, found)
        source = form.rows.source(found.folder)
    null = form.null
    if isinstance(null, Rows):
        source["null"] = null.place(found.folder)
        null = read_null(null, found)
    return {
        "id": form.id,
        "model": found.model,
        "paper": form.paper,
        "group": form.group,
        "title": form.title,
        "unit": form.unit,
        "scale": form.scale,
        "about": form.about,
        "source": source,
        "state": form.state,
        "task": form.task,
        "null": null,
        "null_title": form.null_title,
        "decimals": form.decimals,
        "better": form.better,
        "categories": list(form.categories) if form.categories else None,
        **{key: columns.get(key) for key in ("label", "value", "low", "high", "n", "p")},
    }


def read_columns(form: Form, found: Tables) -> Columns:
    """Value, low, high, n, p and label of a measure, those that it has."""
    rows, factor = found.select(form.rows), form.rows.factor
    values = found.per_head(rows, form.rows.column)
    if form.categories:
        numbers = {name: place for place, name in enumerate(form.categories)}
        columns: Columns = {"value": [numbers.get(value) for value in values]}
    else:
        columns = {"value": [number(value, factor) for value in values]}
    for name, column in form.rows.beside.items():
        if name == "n":
            counted = rows[[column] if isinstance(column, str) else list(column)].sum(axis=1)
            cells = found.per_head(rows.assign(n=counted), "n")
            columns["n"] = alike(whole(cells))
            continue
        cells = found.per_head(rows, column)
        if name == "label":
            columns["label"] = [None if pd.isna(cell) else cell.replace("_", " ") for cell in cells]
        else:
            columns[name] = [number(cell, 1 if name == "p" else factor) for cell in cells]
    return columns


def read_null(rows: Rows, found: Tables) -> Any:
    """The null in a table: one number, or one for each head where they differ."""
    frame = found.select(rows)
    if "layer" not in frame:
        return number(frame[rows.column].iloc[0], rows.factor)
    cells = found.per_head(frame, rows.column)
    return alike([number(cell, rows.factor) for cell in cells])


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


def condensed(frame: pd.DataFrame, shape: tuple[int, int]) -> list[float]:
    """The pairs' distances: the upper triangle of the matrix of all heads, row by row.

    Raises InputError where the table has not every pair once.
    """
    first, second = (
        (frame[f"layer_{side}"] * shape[1] + frame[f"head_{side}"]).to_numpy() for side in "ab"
    )
    order = np.lexsort([second, first])
    rows, columns = np.triu_indices(shape[0] * shape[1], 1)
    if not (np.array_equal(first[order], rows) and np.array_equal(second[order], columns)):
        raise InputError(
            "clusters/distances.parquet: not every pair of heads once; delete it and run again"
        )
    return [float(f"{value:.{DISTANCE_DIGITS}g}") for value in frame["distance"].to_numpy()[order]]
