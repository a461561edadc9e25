"""Tidy tables, Parquet between rules and CSV for people, and samples of what they hold."""

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

Item = TypeVar("Item")
HEAD_NAME = re.compile(r"(\d+)-(\d+)", re.ASCII)
FROM_0 = ["layer_from_0", "head_from_0"]
ROW = "row"  # the column of a part of a table with the place of each row in the whole


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet, whatever the name's ending; its pages have checksums."""
    frame.to_parquet(path, index=False, write_page_checksum=True)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV for people: floats with six significant digits, texts `as_text`.

    Next to heads stand both counts, as `count_twice` gives them.
    """
    shown = count_twice(frame).rename(columns=as_text)
    for name, column in shown.items():
        if not is_numeric_dtype(column):
            shown[name] = pd.Series(map(as_text, column), index=shown.index, dtype=object)
    shown.to_csv(path, index=False, float_format="%.6g")


def read_csv(path: Path, dtype: Any = None) -> pd.DataFrame:
    """Read what `write_csv` wrote: texts as they were; an empty cell is a missing value.

    CSV has no types: a column of texts that are all numbers (`007`) or truth values is read as
    these, unless `dtype` is str. The empty text is a missing value whatever `dtype` is.
    """
    frame = pd.read_csv(path, dtype=dtype, keep_default_na=False, na_values=[""])
    for name, column in frame.items():
        if not is_numeric_dtype(column):
            frame[name] = column.map(from_text, na_action="ignore").astype(column.dtype)
    return frame.rename(columns=from_text)


def count_twice(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with layer_from_0 and head_from_0 after `head`, where it has a row a head.

    Heads are names such as 8-11 in a column `head`; or there is a column `name`, next to `layer`
    and `head` from 0, which then count from 1.
    """
    frame = count_from_0(frame)  # of a table that was read from CSV
    shown = frame.copy()
    if {"name", "layer", "head"} <= {*frame}:
        numbers = frame[["layer", "head"]]
        shown[["layer", "head"]] += 1
    elif "head" in frame and _are_heads(frame["head"]):
        numbers = frame["head"].astype("str").str.extract(HEAD_NAME).astype("Int64") - 1
    else:
        return frame
    place = frame.columns.get_loc("head") + 1
    for position, name in enumerate(FROM_0):
        shown.insert(place + position, name, numbers.iloc[:, position])
    return shown


def count_from_0(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that `write_csv` wrote as it was."""
    if not {*FROM_0} <= {*frame}:
        return frame
    if "name" in frame:
        frame = frame.assign(layer=frame[FROM_0[0]], head=frame[FROM_0[1]])
    return frame.drop(columns=FROM_0)


def _are_heads(column: pd.Series) -> bool:
    """Whether all that stands in a column is names of heads; a column of empty cells has none."""
    cells = column[column.notna() & (column != "")]
    named = all(isinstance(cell, str) and HEAD_NAME.fullmatch(cell) for cell in cells)
    return named and (len(cells) > 0 or column.empty)


def as_text(cell: Any) -> Any:
    """A cell of CSV: a quote before `=` keeps a spreadsheet program from running a text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith("=") else cell


def from_text(cell: str) -> str:
    """The text that `as_text` made a cell of."""
    return cell.removeprefix("'") if cell.startswith("'=") else cell


def write_counts(counts: Mapping[str, Any], path: Path, **about: Any) -> None:
    """Write counts as CSV: columns what and n, and a column with the value of each of `about`."""
    write_csv(pd.DataFrame(counts.items(), columns=["what", "n"]).assign(**about), path)


def read(path: Path) -> pd.DataFrame:
    """Read a Parquet table."""
    return pd.read_parquet(path, page_checksum_verification=True)


def read_all(paths: Sequence[Path]) -> pd.DataFrame:
    """Several Parquet tables, concatenated."""
    return pd.concat(map(read, paths), ignore_index=True)


def where(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows with these values in the columns of these names."""
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    return frame


def tidy(axes: Mapping[str, Sequence], **values: Any) -> pd.DataFrame:
    """One row per cell of arrays: a column for each axis, with its labels, and for each array.

    `axes` names the arrays' axes in order. Values with fewer axes are broadcast along the first.
    """
    shape = tuple(len(labels) for labels in axes.values())
    columns = zip(axes.items(), np.indices(shape), strict=True)
    frame = {name: np.asarray(labels)[index.ravel()] for (name, labels), index in columns}
    frame |= {name: np.broadcast_to(array, shape).ravel() for name, array in values.items()}
    return pd.DataFrame(frame)


def per_pair(weights: np.ndarray, names: Sequence[str] = ()) -> pd.DataFrame:
    """One row per query and key of a map [query, key], with `names` also query_token, key_token."""
    length = range(len(weights))
    frame = tidy({"query": length, "key": length}, weight=weights)
    if len(names):
        texts = np.asarray(names)
        frame["query_token"], frame["key_token"] = texts[frame["query"]], texts[frame["key"]]
    return frame


def join_parts(parts: Sequence[Path]) -> pd.DataFrame:
    """The whole table from its parts, in the order of their column `row`, which goes.

    Parts without rows add nothing.
    """
    frames = [frame for part in parts if len(frame := read(part))]
    whole = pd.concat(frames, ignore_index=True)
    return whole.sort_values(ROW, kind="stable", ignore_index=True).drop(columns=ROW)


def sample(items: Sequence[Item], n: int, seed: int) -> Sequence[Item]:
    """`n` of the items, sampled by `seed`, in their order; all of them if n is 0 or too large."""
    return sample_by(random.Random(seed), items, n) if n else items


def sample_by(rng: random.Random, items: Sequence[Item], n: int) -> Sequence[Item]:
    """`n` of the items, sampled by `rng`, in their order; all of them if n is too large."""
    if n >= len(items):
        return items
    return [items[index] for index in sorted(rng.sample(range(len(items)), n))]


def sample_rows(frame: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """`n` of the rows of a table, numbered from 0: those that `sample` takes."""
    return frame.iloc[list(sample(range(len(frame)), n, seed))].reset_index(drop=True)


def document_units(documents: Sequence[str]) -> np.ndarray:
    """Number of the unit of each example, int [example], for the document of each.

    That is its document or, where all examples are of one document, itself.
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    return codes if len(names) > 1 else np.arange(len(documents))
