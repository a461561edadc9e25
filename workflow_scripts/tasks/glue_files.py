"""GLUE tasks from official TSV files, from the hub and from files of sentences; read strictly."""

import html
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import check_header, read_lines
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.sources import load_rows

DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Of files of sentences with a sentiment, labelled or rated, in SST-2's place.
SENTIMENTS = {"__label__neg": 0.0, "__label__pos": 1.0}
LARGEST_RATING = 4.0
# Two of five rows of a file without splits are development examples.
REMAINDERS = {"train": (0, 2, 4), "dev": (1, 3)}
# Where nothing is trained, one is put aside, as "train": outputs and gradients come from it.
ASIDE = {"dev": (0, 1, 2, 3), "train": (4,)}


@dataclass
class SplitRows:
    """The rows of one split, and what was left out.

    `malformed` has the numbers of malformed lines, `excluded` how many rows other reasons excluded.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    excluded: dict[str, int] = field(default_factory=dict)


def read_directory(
    folder: Path, task: Task, wanted: Iterable[str] | None = None
) -> dict[str, SplitRows]:
    """The `wanted` splits, or every one, of a directory with the official files, maybe in .gz.

    A missing dev_mismatched is left out.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such file or directory; name the task's TSV files")
    splits = {}
    for split in wanted or task.files:
        name = task.files[split]
        paths = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
        if paths:
            splits[split] = read_tsv(paths[0], task)
        elif split != "dev_mismatched":
            raise InputError(f"{folder}: no {name} or {name}.gz; put {task.title}'s file there")
    return splits


def read_tsv(path: Path, task: Task) -> SplitRows:
    """One official file: columns by header or by the task's own, quotes as they are."""
    lines = read_lines(path)
    names = list(task.columns) or next(lines, (0, ""))[1].split("\t")
    needed = (*task.ids, *task.texts, task.label)
    check_header(path, names, needed)
    index = {column: names.index(column) for column in needed}
    part, seen = SplitRows(), {}
    for number, line in lines:
        where = f"{path}:{number}"
        fields = line.split("\t")
        texts = [fields[index[name]] for name in task.texts if index[name] < len(fields)]
        problem = ""
        if len(fields) != len(names):
            there = task.title if task.columns else "the header"
            problem = f"{len(fields)} columns where {there} has {len(names)}; fix the row"
        elif not all(text.strip() for text in texts):
            problem = f"an empty text; fill in {' or '.join(task.texts)}"
        if problem and not task.malformed:
            raise InputError(f"{where}: {problem}")
        if problem:
            part.malformed.append(str(number))
            continue
        if task.ids:
            check_id(where, tuple(fields[index[name]] for name in task.ids), seen)
        label = label_of(fields[index[task.label]], task, where)
        part.rows.append({"source": where, "texts": texts, "label": label})
    if not part.rows:
        raise InputError(f"{path}: no rows; use the complete file")
    return part


def check_id(where: str, identity: tuple[str, ...], seen: dict[tuple[str, ...], str]) -> None:
    """Remember where an id stands. Raises InputError where it stands in an earlier line."""
    if identity in seen:
        raise InputError(
            f"{where}: id {' '.join(identity)} is already in line {seen[identity]}; "
            "remove one of the two rows"
        )
    seen[identity] = where.rpartition(":")[2]


def label_of(text: str, task: Task, where: str) -> float:
    """Number of the class, or the score. Raises InputError with the accepted labels."""
    if task.labels:
        numbers = [str(number) for number in range(task.n_labels)]
        names = numbers if task.numbered and text in numbers else task.labels
        if text not in names:
            accepted = ", ".join(task.labels)
            raise InputError(f"{where}: label {text!r} is unknown; {task.title} has {accepted}")
        return float(names.index(text))
    value = float(text) if DECIMAL.fullmatch(text) else math.nan
    low, high = task.range
    if not (math.isfinite(value) and low <= value <= high):
        accepted = f"scores from {low:g} to {high:g}" if math.isfinite(high) else "numbers"
        raise InputError(f"{where}: score {text!r}; {task.title} has {accepted}")
    return value


def read_hub(source: dict[str, Any], name: str, task: Task) -> dict[str, SplitRows]:
    """Every split of a hub dataset in the form of nyu-mll/glue."""
    source = {"name": name} | source
    return {
        split: _hub_rows(source | {"split": of_hub}, task)
        for split, of_hub in task.hub_splits.items()
    }


def _hub_rows(source: dict[str, Any], task: Task) -> SplitRows:
    label = f"{source['hub']}/{source['name']}/{source['split']}"
    part, columns = SplitRows(), task.hub or task.texts
    for number, row in enumerate(load_rows(source, (*columns, "label")), start=1):
        where = f"{label}:{number}"
        texts = [row[column] or "" for column in columns]
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"{where}: a text that is no string; fix the dataset")
        if not all(text.strip() for text in texts):
            if not task.malformed:
                raise InputError(f"{where}: an empty text; fix the dataset")
            part.malformed.append(str(number))
            continue
        if isinstance(row["label"], bool) or not isinstance(row["label"], int | float):
            raise InputError(f"{where}: label {row['label']!r} is no number; fix the dataset")
        value = float(row["label"])
        if task.labels and value not in range(task.n_labels):
            raise InputError(f"{where}: label {row['label']} is unknown; fix the dataset")
        if not task.labels and not task.range[0] <= value <= task.range[1]:
            raise InputError(f"{where}: score {row['label']} is not from 0 to 5; fix the dataset")
        part.rows.append({"source": where, "texts": texts, "label": value})
    return part


def read_sentences(
    path: Path,
    task: Task,
    format: str = "labels",
    encoding: str = "utf-8",
    min_rating: float = 0.5,
) -> SplitRows:
    """All sentences of one file of `labels` or `ratings`, of SST-2 or a task of the study's own.

    A rating of at least `min_rating` is positive, of at most its negative is negative; sentences
    between are left out and counted.
    """
    if task.title != "SST-2" and not task.own:
        raise InputError(
            f"{path}: one file of sentences serves sst2 only; name a directory, or name the task "
            "as you like (tasks.<name>)"
        )
    if len(task.labels) != 2:
        raise InputError(f"{path}: ratings have two labels, the negative first; correct labels")
    part, seen, between = SplitRows(), {}, 0
    for number, line in read_lines(path, encoding):
        where = f"{path}:{number}"
        if format == "labels":
            name, _, text = line.partition(" ")  # as fastText has it
            if name not in SENTIMENTS:
                accepted = ", ".join(SENTIMENTS)
                raise InputError(f"{where}: label {name!r} is unknown; accepted: {accepted}")
            label = SENTIMENTS[name]
        else:
            text, rating = rated(line, where, seen)
            label = float(rating > 0)
        if not text.strip():
            raise InputError(f"{where}: an empty text; remove the line")
        if format == "ratings" and abs(rating) < min_rating:
            between += 1
            continue
        part.rows.append({"source": where, "texts": [text], "label": label})
    if not part.rows:
        raise InputError(f"{path}: no sentence with a label; use the complete file")
    if format == "ratings":
        part.excluded["rows with a rating near 0"] = between
    return part


def rated(line: str, where: str, seen: dict[tuple[str, ...], str]) -> tuple[str, float]:
    """A sentence and its rating, of a line of id, mean rating from -4 to 4, and text, between tabs.

    As by Hutto and Gilbert (2014). Character references such as &amp; become characters.
    """
    fields = line.split("\t")
    if len(fields) != 3:
        raise InputError(f"{where}: {len(fields)} columns; write id, rating and text with tabs")
    check_id(where, (fields[0],), seen)
    rating = float(fields[1]) if DECIMAL.fullmatch(fields[1]) else math.nan
    if not abs(rating) <= LARGEST_RATING:
        raise InputError(f"{where}: rating {fields[1]!r}; ratings are numbers from -4 to 4")
    return html.unescape(fields[2]), rating


def split_file(
    rows: SplitRows, remainders: dict[str, tuple[int, ...]] = REMAINDERS
) -> dict[str, SplitRows]:
    """The rows of a file without splits, by split; the first has its exclusions."""
    parts = {
        split: SplitRows([row for number, row in enumerate(rows.rows) if number % 5 in chosen])
        for split, chosen in remainders.items()
    }
    next(iter(parts.values())).excluded |= rows.excluded
    return parts


def without_repeats(files: dict[str, SplitRows]) -> dict[str, SplitRows]:
    """The rows of each file without texts that stand in an earlier row of any, which are counted.

    Two texts are the same that differ in case and spaces only.
    """
    seen: set[tuple[str, ...]] = set()
    kept = {}
    for name, part in files.items():
        rows = []
        for row in part.rows:
            texts = tuple(" ".join(text.casefold().split()) for text in row["texts"])
            if texts not in seen:
                rows.append(row)
            seen.add(texts)
        repeated = {"rows with a text of an earlier row": len(part.rows) - len(rows)}
        kept[name] = SplitRows(rows, part.malformed, part.excluded | repeated)
    return kept
