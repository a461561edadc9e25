"""A task of the study's own, from TSV, CSV or JSON Lines; read strictly."""

import json
from pathlib import Path

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import read_objects, read_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.tasks.glue_files import SplitRows, label_of, split_file, without_repeats

ENDINGS = (".tsv", ".csv", ".jsonl")
NO_TEXTS = ("id", "idx", "index")  # columns, next to that of the label


def read(path: Path, name: str, task: Task, encoding: str = "utf-8") -> dict[str, SplitRows]:
    """The splits of a directory with train and dev, which needs no train, or of one file.

    Of one file, texts that stand in an earlier row are left out, so that none is in both splits.
    """
    if path.is_file():
        rows = read_file(path, name, task, encoding)
        return split_file(without_repeats({"all": rows})["all"])
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
    return splits


def read_file(path: Path, name: str, task: Task, encoding: str) -> SplitRows:
    """The examples of one file, whose ending, before .gz, is its format."""
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending not in ENDINGS:
        raise InputError(f"{path}: not one of {', '.join(ENDINGS)}; convert or rename it")
    if ending == ".jsonl":
        rows = read_objects(path, encoding)
    else:
        rows = read_table(path, ending == ".csv", encoding)
    part, columns = SplitRows(), task.texts
    for number, values in rows:
        where = f"{path}:{number}"
        # Numbers and truth values as JSON writes them.
        row = {key: of if isinstance(of, str) else json.dumps(of) for key, of in values.items()}
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
