"""A task of the study's own, from TSV, CSV or JSON Lines; read strictly."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import read_objects, read_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.tasks.glue_files import (
    ASIDE,
    REMAINDERS,
    SplitRows,
    label_of,
    split_file,
    without_repeats,
)

ENDINGS = (".tsv", ".csv", ".jsonl")
# Columns in any case, next to that of the label; pandas writes one without a name.
NO_TEXTS = ("", "unnamed: 0", "id", "idx", "index", "split")


def read(
    path: Path,
    name: str,
    task: Task,
    encoding: str = "utf-8",
    aside: bool = False,
    wanted: Iterable[str] | None = None,
) -> dict[str, SplitRows]:
    """The `wanted` splits of a directory with train and dev, which needs no train, or of one file.

    Of one file, texts that stand in an earlier row are left out, so that none is in both splits. So
    they are of dev without train, if every fifth row is put `aside`. Columns that the study does
    not name are those of train, where there is one.
    """
    if path.is_file():
        rows, _ = read_file(path, name, task, encoding)
        return split_file(without_repeats({"all": rows})["all"], ASIDE if aside else REMAINDERS)
    splits, columns = {}, task.texts
    for split in wanted or ("train", "dev"):
        names = [f"{split}{ending}{packed}" for ending in ENDINGS for packed in ("", ".gz")]
        found = [file for file in sorted(path.glob("*")) if file.name.lower() in names]
        if len(found) > 1 or (split == "dev" and not found):
            raise InputError(
                f"{path}: {len(found)} files of tasks.{name}'s {split}; put one of "
                f"{', '.join(f'{split}{ending}' for ending in ENDINGS)} there"
            )
        if found:
            splits[split], columns = read_file(found[0], name, task, encoding, columns)
    if aside and "train" not in splits:
        return split_file(without_repeats(splits)["dev"], ASIDE)
    return splits


def read_file(
    path: Path, name: str, task: Task, encoding: str, columns: tuple[str, ...] = ()
) -> tuple[SplitRows, tuple[str, ...]]:
    """The examples of one file, whose ending, before .gz, is its format, and the texts' columns."""
    ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: not one of {', '.join(ENDINGS)}; convert or rename it")
    if ending == ".jsonl":
        rows = read_objects(path, encoding)
    else:
        rows = read_table(path, ending == ".csv", encoding)
    part, columns = SplitRows(), task.texts or columns
    for number, row in rows:
        where = f"{path}:{number}"
        found = task.texts or _texts(where, row, name, task)
        columns = columns or found
        if {*found} != {*columns}:
            raise InputError(
                f"{where}: the texts are {' and '.join(found)} here, {' and '.join(columns)} in "
                f"other rows; name the columns: tasks.{name}.text"
            )
        for column in (*columns, task.label):
            if column not in row:
                raise InputError(
                    f"{where}: no column {column!r} among {', '.join(row)}; name the columns: "
                    f"tasks.{name}.text and .label"
                )
        texts = [row[column] for column in columns]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(f"{where}: an empty text or none; fill in {' and '.join(columns)}")
        label = row[task.label]
        label = label_of(label if isinstance(label, str) else json.dumps(label), task, where)
        part.rows.append({"source": where, "texts": texts, "label": label})
    if not part.rows:
        raise InputError(f"{path}: no rows; use the complete file")
    return part, columns


def _texts(where: str, row: dict[str, Any], name: str, task: Task) -> tuple[str, ...]:
    """The columns other than that of the label, if they are one or two."""
    others = tuple(
        column for column in row if column != task.label and column.lower() not in NO_TEXTS
    )
    if len(others) not in (1, 2):
        raise InputError(
            f"{where}: {len(others)} columns may be texts ({', '.join(others)}); name one or two: "
            f"tasks.{name}.text"
        )
    return others
