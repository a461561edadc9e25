"""A task of the study's own, from TSV, CSV or JSON Lines; read strictly."""

import json
from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import read_lines, read_rows
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
NO_TEXTS = ("id", "idx", "index")  # columns, next to that of the label
# Line number, and value by column.
Row = tuple[int, dict[str, str]]


def read(
    path: Path, name: str, task: Task, encoding: str = "utf-8", aside: bool = False
) -> dict[str, SplitRows]:
    """The splits of a directory with train and dev, which needs no train, or of one file.

    Of one file, texts that stand in an earlier row are left out, so that none is in both splits. So
    they are of dev without train, if every fifth row is put `aside`.
    """
    if path.is_file():
        rows = read_file(path, name, task, encoding)
        return split_file(without_repeats({"all": rows})["all"], ASIDE if aside else REMAINDERS)
    splits = {}
    for split in ("train", "dev"):
        names = [f"{split}{ending}{packed}" for ending in ENDINGS for packed in ("", ".gz")]
        found = [path / file for file in names if (path / file).is_file()]
        if len(found) > 1 or (split == "dev" and not found):
            raise InputError(
                f"{path}: {len(found)} files of tasks.{name}'s {split}; put one of "
                f"{', '.join(f'{split}{ending}' for ending in ENDINGS)} there"
            )
        if found:
            splits[split] = read_file(found[0], name, task, encoding)
    if aside and "train" not in splits:
        return split_file(without_repeats(splits)["dev"], ASIDE)
    return splits


def read_file(path: Path, name: str, task: Task, encoding: str) -> SplitRows:
    """The examples of one file, whose ending, before .gz, is its format."""
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending not in ENDINGS:
        raise InputError(f"{path}: not one of {', '.join(ENDINGS)}; convert or rename it")
    rows = _objects(path, encoding) if ending == ".jsonl" else _table(path, ending, encoding)
    part, columns = SplitRows(), task.texts
    for number, row in rows:
        where = f"{path}:{number}"
        columns = columns or _texts(where, row, name, task)
        for column in (*columns, task.label):
            if column not in row:
                raise InputError(
                    f"{where}: no column {column!r} among {', '.join(row)}; name the columns: "
                    f"tasks.{name}.text and .label"
                )
        texts = [row[column] for column in columns]
        if not all(text.strip() for text in texts):
            raise InputError(f"{where}: an empty text; fill in {' and '.join(columns)}")
        label = label_of(row[task.label], task, where)
        part.rows.append({"source": where, "texts": texts, "label": label})
    if not part.rows:
        raise InputError(f"{path}: no rows; use the complete file")
    return part


def _texts(where: str, row: dict[str, str], name: str, task: Task) -> tuple[str, ...]:
    """The columns other than that of the label, if they are one or two."""
    others = tuple(column for column in row if column not in (task.label, *NO_TEXTS))
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
        rows = ((number, line.split("\t")) for number, line in read_lines(path, encoding))
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
    """The objects of a file with one in each line; numbers and truth values as JSON writes them."""
    for number, line in read_lines(path, encoding):
        try:
            values = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: not JSON ({error}); fix the line") from error
        if not isinstance(values, dict):
            raise InputError(f"{path}:{number}: no JSON object; write columns and their values")
        items = values.items()
        yield number, {key: of if isinstance(of, str) else json.dumps(of) for key, of in items}
