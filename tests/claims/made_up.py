"""Products made up for tests of measures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.claims.products import Products
from workflow_scripts.core.data import tables

Row = Mapping[str, Any]


def products(folder: Path, **frames: Sequence[Row]) -> Products:
    """Products with these rows; `clark2019_table1` is printed, `surface__position` is not."""
    paths = []
    for name, rows in frames.items():
        frame = pd.DataFrame(rows)
        if "__" in name:
            chapter, table = name.split("__")
            path = folder / chapter / f"{table.replace('_of_', '.')}.parquet"
            path.parent.mkdir(exist_ok=True)
            tables.write(frame, path)
        else:
            path = folder / f"tables/{name.replace('_', '-')}.csv"
            path.parent.mkdir(exist_ok=True)
            tables.write_csv(frame, path)
        paths.append(path)
    return Products(paths)


def heads(n_layers: int, values: Mapping[tuple[int, int], float], column: str, **more: Any) -> list:
    """A row for each head, two a layer: its value or 0, with an interval of 0.01 to each side."""
    rows = []
    for layer in range(n_layers):
        for head in range(2):
            value = values.get((layer, head), 0.0)
            ends = {"ci_low": value - 0.01, "ci_high": value + 0.01}
            rows.append({"layer": layer, "head": head, column: value} | ends | {"n": 5} | more)
    return rows
