"""Strict readers of the official ARCT files and of the published adversarial set."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.tasks import ARCT_SPLITS, ARCT_TEXTS
from workflow_scripts.core.data.text_files import check_header, read_lines, read_rows
from workflow_scripts.core.errors import InputError

ID, LABEL = "#id", "correctLabelW0orW1"
ADVERSARIAL = "adversarial_dataset"
PLANTED = "planted.json"  # the counts of the generator's cue, by split
# The official names in order of preference; {} is the split.
FULL = ("{}-full.txt",)
DATA = ("{}-only-data.txt", "{}-data.txt")
TRUTH = ("{}-truth.txt", "{}-only-labels.txt", "{}-labels.txt")
FOLDERS = (".", "{}", "data/{}", "data/gold", "gold")
# Published adversarial files: the version that each adds, and the column that marks its rows.
MARKS = {"negated": "adversarial", "swapped": "swapped"}

Row = dict[str, Any]  # id, source, the texts, label


def read_split(folder: Path, split: str) -> list[Row] | None:
    """The points of a split in a directory with the official files; None where it has none.

    A file with labels is preferred; one without them needs its truth file. A truth
    file next to a file with labels must agree with it.
    """
    full = _find(folder, (*FULL, *DATA), split)
    if full is None:
        return None
    truth = _find(folder, (*TRUTH, *(["truth.txt"] if split == "test" else [])), split)
    labelled = LABEL in next(read_lines(full), (0, ""))[1].split("\t")
    if not labelled and truth is None:
        raise InputError(f"{full}: no labels, and no {TRUTH[0].format(split)} next to it; add one")
    rows = read_points(full, labelled)
    return rows if truth is None else join_truth(rows, truth, full)


def read_points(path: Path, labelled: bool = True, mark: str = "") -> list[Row]:
    """The points of a tab-separated file, in which quotes have no meaning.

    With `mark`, a column of a published adversarial file, which is quoted as CSV: those it marks.
    """
    lines = ((number, line.split("\t")) for number, line in read_lines(path))
    lines = read_rows(path, "\t") if mark else lines
    _, names = next(lines, (0, []))
    needed = [ID, *ARCT_TEXTS, *([LABEL] if labelled else []), *([mark] if mark else [])]
    check_header(path, names, needed)
    rows, seen = [], {}
    for number, fields in lines:
        where = f"{path}:{number}"
        if len(fields) != len(names):
            raise InputError(
                f"{where}: {len(fields)} columns, but {len(names)} in the header; correct the row"
            )
        row = dict(zip(names, fields, strict=True))
        for column in (ID, *ARCT_TEXTS):
            if not row[column].strip():
                raise InputError(f"{where}: an empty {column}; fill it in")
        if row[ID] in seen:
            raise InputError(f"{where}: id {row[ID]} is also in line {seen[row[ID]]}; remove one")
        seen[row[ID]] = number
        point = {"id": row[ID], "source": where}
        point |= {column: " ".join(row[column].split()) for column in ARCT_TEXTS}
        if labelled:
            point["label"] = _label(row[LABEL], where)
        if mark and row[mark] not in ("True", "False"):
            raise InputError(f"{where}: {mark} is {row[mark]!r}; write True or False")
        if not mark or row[mark] == "True":
            rows.append(point)
    if not seen:
        raise InputError(f"{path}: no rows below the header; give the whole file")
    return rows


def join_truth(rows: list[Row], path: Path, data: Path) -> list[Row]:
    """The rows with the labels of a truth file, which must have exactly the ids of `data`.

    A line of it has an id and a label, or is a comment.
    """
    labels: dict[str, tuple[int, str]] = {}  # with where each stands
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        if line.startswith("#") or not line.strip():
            continue
        fields = line.split()
        if len(fields) != 2:
            raise InputError(f"{where}: {len(fields)} fields; write an id and a label")
        if fields[0] in labels:
            raise InputError(f"{where}: a second line for id {fields[0]}; remove one")
        labels[fields[0]] = _label(fields[1], where), where
    for row in rows:
        if row["id"] not in labels:
            raise InputError(f"{path}: no label for id {row['id']} ({row['source']}); add it")
        label, where = labels.pop(row["id"])
        if row.get("label", label) != label:
            raise InputError(
                f"{where}: label {label} of {row['id']}, but {row['source']} has "
                f"{row['label']}; correct one of them"
            )
        row["label"] = label
    for id_, (_, where) in labels.items():
        raise InputError(f"{where}: id {id_} is not in {data}; remove the line")
    return rows


def read_claim_map(path: Path) -> dict[str, str]:
    """The negation of each claim, from a CSV file with columns original and negated."""
    negations: dict[str, str] = {}
    lines = read_rows(path)
    _, names = next(lines, (0, []))
    if names[:2] != ["original", "negated"]:
        raise InputError(f"{path}:1: columns {', '.join(names)}; original,negated are needed")
    for number, fields in lines:
        if len(fields) != 2 or not all(field.strip() for field in fields):
            raise InputError(f"{path}:{number}: write a claim, a comma and its negation")
        claim, negated = (" ".join(field.split()) for field in fields)
        if negations.get(claim, negated) != negated:
            raise InputError(f"{path}:{number}: a second negation of {claim!r}; remove one")
        negations[claim] = negated
    return negations


def find_adversarial(folder: Path, name: str, needed: bool = True) -> Path | None:
    """A file of the adversarial set, in `folder` or in its folder adversarial_dataset."""
    for path in (folder / ADVERSARIAL / name, folder / name):
        if path.is_file():
            return path
    if not needed:
        return None
    raise InputError(
        f"{folder / ADVERSARIAL}: no {name}; put it there, or choose another arct.adversarial"
    )


def _find(folder: Path, names: tuple[str, ...], split: str) -> Path | None:
    paths = [
        folder / inner.format(split) / name.format(split) for name in names for inner in FOLDERS
    ]
    return next((path for path in paths if path.is_file()), None)


def _label(text: str, where: str) -> int:
    if text not in ("0", "1"):
        raise InputError(f"{where}: label {text!r}; write 0 or 1, the right warrant's number")
    return int(text)


def splits_in(folder: Path, wanted: Iterable[str] = ARCT_SPLITS) -> dict[str, list[Row]]:
    """The splits of a directory."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such directory; give one with ARCT's files")
    splits = {}
    for split in wanted:
        rows = read_split(folder, split)
        if rows is not None:
            splits[split] = rows
        elif split != "test":
            raise InputError(f"{folder}: no {FULL[0].format(split)}; put it there")
    return splits
