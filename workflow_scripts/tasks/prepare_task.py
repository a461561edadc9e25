"""A task as the study reads it: its examples in one table, sampled and counted."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASK_COLUMNS, TASKS, Task
from workflow_scripts.core.data.text_files import CSV_QUOTED
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.sources import path_of
from workflow_scripts.tasks import glue_files, own_files

FORMAT_KEYS = ("format", "encoding", "min_rating")


def read(
    source: dict[str, Any],
    name: str,
    task: Task,
    aside: bool = False,
    wanted: Iterable[str] | None = None,
) -> dict[str, glue_files.SplitRows]:
    """Every split of the task, from where the config states; `dev_<domain>` of its domains.

    Of a directory the `wanted` ones are read alone.
    """
    if "hub" in source:
        return glue_files.read_hub(source, name, task)
    path, domains = path_of(source), source.get("domains", {})
    if task.own and source["format"] == "table":
        return own_files.read(path, name, task, source["encoding"], aside, wanted)
    if path.is_file():
        form = {key: source[key] for key in FORMAT_KEYS if key in source}
        paths = {"train": path} | {f"dev_{key}": path_of(domains[key]) for key in domains}
        files = {split: glue_files.read_sentences(paths[split], task, **form) for split in paths}
        kept = glue_files.without_repeats(files)
        remainders = glue_files.ASIDE if aside else glue_files.REMAINDERS
        return glue_files.split_file(kept.pop("train"), remainders) | kept
    if domains:
        raise InputError(f"{path}: domains need a file of sentences; drop tasks.{name}.domains")
    return glue_files.read_directory(path, task, wanted)


def count(part: glue_files.SplitRows, frame: pd.DataFrame, task: Task, split: str) -> list[tuple]:
    """Rows of the table of counts (split, what, n, lines) for the examples of one split."""
    malformed, excluded = part.malformed, part.excluded
    n_rows = len(part.rows) + len(malformed) + sum(excluded.values())
    quoted = sum(any(map(CSV_QUOTED.fullmatch, row["texts"])) for row in part.rows)
    labels = frame["label"].value_counts().sort_index() if task.labels else {}
    return [
        (split, "rows read", n_rows, ""),
        (split, "malformed rows", len(malformed), " ".join(malformed)),
        *((split, what, n, "") for what, n in excluded.items()),
        *([(split, "rows with a text quoted as CSV, read as it is", quoted, "")] if quoted else []),
        (split, "rows not sampled", len(part.rows) - len(frame), ""),
        (split, "examples", len(frame), ""),
        *((split, f"label {task.labels[int(label)]}", n, "") for label, n in labels.items()),
    ]


def sampled(part: glue_files.SplitRows, name: str, split: str, n: int, seed: int) -> pd.DataFrame:
    """At most `n` examples (0: all) of a split, as in the prepared table."""
    records = []
    for k, row in enumerate(tables.sample(part.rows, n, seed)):
        texts = [*row["texts"], ""][:2]
        records.append((split, f"{name}-{split}-{k:06d}", row["source"], *texts, row["label"]))
    if not records:
        raise InputError(f"tasks.{name}: fewer than five rows; use the complete file")
    return pd.DataFrame(records, columns=list(TASK_COLUMNS))


def check_labels(frame: pd.DataFrame, name: str, split: str) -> None:
    """Raise InputError where all examples of a split have one label: nothing can be distinguished.

    A classifier would learn that label, and every score of it would be perfect or undefined.
    """
    if frame["label"].nunique() > 1:
        return
    task, label = TASKS[name], frame["label"].iloc[0]
    file = frame["source"].iloc[0].rpartition(":")[0]
    raise InputError(
        f"{file}: all {len(frame)} examples of {task.title}'s {split} have the label "
        f"{task.labels[int(label)] if task.labels else label}; a task needs two at least: use the "
        f"complete file, or more of its examples (tasks.{name})"
    )


def main(
    table: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    n_train: int = 0,
    n_dev: int = 0,
    seed: int = 1,
    generated: Path | None = None,
    aside: bool = False,
) -> None:
    """Write the examples and the counts; `generated` is the directory of a generated task.

    With `aside` no model is trained on it: where there are no training examples every fifth row is
    put aside as such, so that outputs and gradients come from examples that are not scored.
    """
    task = TASKS[name]
    if generated is not None:
        source = {"path": str(generated)}
    frames, counted, limits = [], [], {"train": n_train}
    for key, domain in source.get("domains", {}).items():
        limits[f"dev_{key}"] = domain.get("n_dev", n_dev)
    for split, part in read(source, name, task, aside).items():
        frames.append(sampled(part, name, split, limits.get(split, n_dev), seed))
        reference = aside and split == "train"
        if not reference:
            check_labels(frames[-1], name, split)
        counted += count(part, frames[-1], task, "reference" if reference else split)
    tables.write(pd.concat(frames, ignore_index=True), table)
    frame = pd.DataFrame(counted, columns=["split", "what", "n", "lines"])
    official = generated is None and not task.own and ("hub" in source or path_of(source).is_dir())
    origin = {"generated": generated is not None, "official": official}
    tables.write_csv(frame.assign(task=task.title, **origin), counts)


if __name__ == "__main__":
    job.run(main, globals())
