"""Products made up for tests of measures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.claims.products import Products
from workflow_scripts.core.data import tables

Row = Mapping[str, Any]


def products(folder: Path, **frames: Sequence[Row]) -> Products:
    """Products with these rows; `clark2019_table1` is printed, `surface__position` is not.

    Columns that the table's declaration names and the rows lack are empty.
    """
    paths = []
    for name, rows in frames.items():
        frame = pd.DataFrame(rows)
        if "__" in name:
            chapter, table = name.split("__")
            path = folder / chapter / f"{table.replace('_of_', '.')}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            tables.write(completed(frame, path), path)
        else:
            path = folder / f"tables/{name.replace('_', '-')}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            tables.write_csv(completed(frame, path), path)
        paths.append(path)
    return Products(paths)


def completed(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The frame, with all columns that the declaration of the table at `path` names."""
    declared = [table for module in collect("measures").values() for table in module.TABLES]
    file = f"{path.parent.name}/{path.name}"
    wanted = {name for table in declared if table.at(file) for name in table.columns}
    return frame.assign(**dict.fromkeys(sorted(wanted - {*frame})))


def heads(n_layers: int, values: Mapping[tuple[int, int], float], column: str, **more: Any) -> list:
    """A row for each head, two a layer: its value or 0, with an interval of 0.01 to each side."""
    rows = []
    for layer in range(n_layers):
        for head in range(2):
            value = values.get((layer, head), 0.0)
            ends = {"ci_low": value - 0.01, "ci_high": value + 0.01}
            rows.append({"layer": layer, "head": head, column: value} | ends | {"n": 5} | more)
    return rows
