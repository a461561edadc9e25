"""Tables made up for tests of claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.core.data import tables


def products(folder: Path, **frames: Sequence[Mapping[str, Any]]) -> None:
    """Write tables of these rows; `clark2019_table1` is printed, `battery__roles` is not.

    Columns that the table's declaration names and the rows lack are empty.
    """
    for name, rows in frames.items():
        frame = pd.DataFrame(rows)
        if "__" in name:
            chapter, table = name.split("__")
            path = folder / chapter / f"{table.replace('_of_', '.')}.parquet"
        else:
            path = folder / f"tables/{name.replace('_', '-')}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = tables.write_csv if path.suffix == ".csv" else tables.write
        writer(completed(frame, f"{path.parent.name}/{path.name}"), path)


def completed(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """The frame, with all columns that the declaration of the table names."""
    declared = [table for module in collect("measures").values() for table in module.TABLES]
    wanted = {name for table in declared if table.at(file) for name in table.columns}
    return frame.assign(**dict.fromkeys(sorted(wanted - {*frame})))
