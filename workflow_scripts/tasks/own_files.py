"""A task of the study's own, from TSV, CSV or JSON Lines; read strictly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import read_lines, read_rows
from workflow_scripts.core.errors import InputError
from workflow_scripts.tasks.glue_files import SplitRows, label_of, split_file, without_repeats

ENDINGS = (".tsv", ".csv", ".jsonl")
# Columns in any case, next to that of the label; pandas writes one without a name.
NO_TEXTS = ("", "unnamed: 0", "id", "idx", "index", "split")
# Line number, and value by column.
Row = tuple[int, dict[str, Any]]


def read(path: Path, name: str, task: Task, encoding: str = "utf-8") -> dict[str, SplitRows]:
    """The splits of a directory with train and dev, which needs no train, or of one file.

    Of one file, texts that stand in an earlier row are left out, so that none is in both splits.
    Columns that the study does not name are those of dev.
    """
    if path.is_file():
        rows, _ = read_file(path, name, task, encoding)
        return split_file(without_repeats({"all": rows})["all"])
    splits, columns = {}, task.texts
    for split in ("dev", "train"):
        names = [f"{split}{ending}{packed}" for ending in ENDINGS for packed in ("", ".gz")]
        found = [file for file in sorted(path.glob("*")) if file.name.lower() in names]
        if len(found) > 1 or (split == "dev" and not found):
            raise InputError(
                f"{path}: {len(found)} files of tasks.{name}'s {split}; put one of "
                f"{', '.join(f'{split}{ending}' for ending in ENDINGS)} there"
            )
        if found:
            splits[split], columns = read_file(found[0], name, task, encoding, columns)
    return dict(reversed(splits.items()))


def read_file(
    path: Path, name: str, task: Task, encoding: str, columns: tuple[str, ...] = ()
) -> tuple[SplitRows, tuple[str, ...]]:
    """The examples of one file, whose ending, before .gz, is its format, and the texts' columns."""
    ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: not one of {', '.join(ENDINGS)}; convert or rename it")
    rows = _objects(path, encoding) if ending == ".jsonl" else _table(path, ending, encoding)
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


def _table(path: Path, ending: str, encoding: str) -> Iterator[Row]:
    """The rows of a file with a header; a TSV file has quotes as they are."""
    if ending == ".csv":
        rows = read_rows(path, encoding=encoding)
    else:
        rows = ((number, line.split("\t")) for number, line in read_lines(path, encoding) if line)
    names = next(rows, (1, [""]))[1]
    if len(set(names)) < len(names):
        raise InputError(f"{path}:1: two columns have one name; rename one")
    for number, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"{path}:{number}: {len(fields)} columns where the header has {len(names)}; fix "
                "the row"
            )
        yield number, dict(zip(names, fields, strict=True))


def _objects(path: Path, encoding: str) -> Iterator[Row]:
    """The objects of a file with one in each line."""
    for number, line in ((number, line) for number, line in read_lines(path, encoding) if line):
        try:
            values = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: not JSON ({error}); fix the line") from error
        if not isinstance(values, dict):
            raise InputError(f"{path}:{number}: no JSON object; write columns and their values")
        yield number, values
