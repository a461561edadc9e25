"""GLUE tasks from the official TSV files, from fastText files and from the hub; read strictly."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.glue import BEST_SCORE, Task
from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.run.errors import InputError

FASTTEXT = {"__label__neg": 0.0, "__label__pos": 1.0}


@dataclass
class Rows:
    """The rows of one split, and the lines that were left out because they are malformed."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)


def read_directory(folder: Path, task: Task) -> dict[str, Rows]:
    """Every split of a directory with the official files, which may end in .gz.

    A dev_mismatched that is not there is left out. Raises InputError, with file and line, for a
    missing file or column, an unknown label, an empty text and an id that comes twice.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such directory; give one with the task's TSV files")
    splits = {}
    for split, name in task.files.items():
        found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
        if found:
            splits[split] = read_tsv(found[0], task)
        elif split != "dev_mismatched":
            raise InputError(f"{folder}: no {name} or {name}.gz; put {task.title}'s file there")
    return splits


def read_tsv(path: Path, task: Task) -> Rows:
    """One official file: columns by header, quotes as they stand."""
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    needed = (*task.ids, *task.texts, task.label)
    for column in needed:
        if names.count(column) != 1:
            raise InputError(
                f"{path}:1: {names.count(column)} columns {column!r}; {task.title} needs one each "
                f"of {', '.join(needed)}, separated by tabs"
            )
    place = {column: names.index(column) for column in needed}
    found, seen = Rows(), {}
    for number, line in lines:
        where = f"{path}:{number}"
        fields = line.split("\t")
        texts = [fields[place[name]] for name in task.texts if place[name] < len(fields)]
        if len(fields) != len(names) or not all(text.strip() for text in texts):
            if not task.malformed:
                raise _wrong_row(where, task, len(fields), len(names))
            found.malformed.append(str(number))
            continue
        if task.ids:
            _check_id(where, tuple(fields[place[name]] for name in task.ids), seen)
        label = label_of(fields[place[task.label]], task, where)
        found.rows.append({"source": where, "texts": texts, "label": label})
    if not found.rows:
        raise InputError(f"{path}: no rows below the header; give the whole file")
    return found


def _wrong_row(where: str, task: Task, n_fields: int, n_columns: int) -> InputError:
    if n_fields != n_columns:
        return InputError(
            f"{where}: {n_fields} columns where the header has {n_columns}; mend the row"
        )
    return InputError(f"{where}: an empty text; fill in {' or '.join(task.texts)}")


def _check_id(where: str, identity: tuple[str, ...], seen: dict[tuple[str, ...], str]) -> None:
    if identity in seen:
        raise InputError(
            f"{where}: id {' '.join(identity)} stands in line {seen[identity]} already; "
            "remove one of the rows"
        )
    seen[identity] = where.rpartition(":")[2]


def label_of(text: str, task: Task, where: str) -> float:
    """Number of the class, or the score. Raises InputError with the accepted labels."""
    if task.labels:
        if text not in task.labels:
            accepted = ", ".join(task.labels)
            raise InputError(f"{where}: label {text!r} is unknown; {task.title} has {accepted}")
        return float(task.labels.index(text))
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= BEST_SCORE:
        raise InputError(f"{where}: score {text!r}; {task.title} has scores from 0 to 5")
    return value


def read_fasttext(path: Path, task: Task, encoding: str = "utf-8") -> Rows:
    """Sentences with `__label__neg` or `__label__pos` before them, one a line."""
    if task.title != "SST-2":
        raise InputError(f"{path}: a file of __label__ lines serves sst2 only; give a directory")
    found = Rows()
    for number, line in read_lines(path, encoding):
        where = f"{path}:{number}"
        label, _, text = line.partition(" ")
        if label not in FASTTEXT:
            raise InputError(
                f"{where}: label {label!r} is unknown; accepted: {', '.join(FASTTEXT)}"
            )
        if not text.strip():
            raise InputError(f"{where}: an empty text; remove the line")
        found.rows.append({"source": where, "texts": [text], "label": FASTTEXT[label]})
    return found


def read_hub(source: dict[str, Any], name: str, task: Task) -> dict[str, Rows]:
    """Every split of a hub dataset in the form of nyu-mll/glue."""
    splits = {}
    for split, its_name in task.hub_splits.items():
        asked = source | {"name": source.get("name", name), "split": its_name}
        splits[split] = _hub_rows(asked, task)
    return splits


def _hub_rows(source: dict[str, Any], task: Task) -> Rows:
    label = f"{source['hub']}/{source['name']}/{source['split']}"
    found = Rows()
    for number, row in enumerate(load_rows(source, (*task.hub, "label")), start=1):
        where = f"{label}:{number}"
        texts = [row[column] or "" for column in task.hub]
        if not all(text.strip() for text in texts):
            if not task.malformed:
                raise InputError(f"{where}: an empty text; mend the dataset")
            found.malformed.append(str(number))
            continue
        value = float(row["label"])
        if task.labels and value not in range(task.n_labels):
            raise InputError(f"{where}: label {row['label']} is unknown; mend the dataset")
        if not task.labels and not 0 <= value <= BEST_SCORE:
            raise InputError(f"{where}: score {row['label']} is not from 0 to 5; mend the dataset")
        found.rows.append({"source": where, "texts": texts, "label": value})
    return found
