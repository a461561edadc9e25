"""A GLUE task as the study reads it: its examples in one table, sampled and counted."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import COLUMNS, TASKS, Task
from workflow_scripts.core.data.packages import inside_package
from workflow_scripts.core.data.sampling import sample
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.tasks.glue_files import Rows, read_directory, read_fasttext, read_hub

log = logging.getLogger(__name__)


def read(source: dict[str, Any], name: str, task: Task) -> dict[str, Rows]:
    """Every split of the task, from where the config says."""
    if "hub" in source:
        return read_hub(source, name, task)
    place = inside_package(source["package"]) if "package" in source else Path(source["path"])
    if place.is_file():
        return split_file(read_fasttext(place, task, source.get("encoding", "utf-8")))
    return read_directory(place, task)


def split_file(rows: Rows) -> dict[str, Rows]:
    """Training and development rows of a file without splits: two of five lines are development."""
    places = {"train": (0, 2, 4), "dev": (1, 3)}
    return {
        split: Rows([row for number, row in enumerate(rows.rows) if number % 5 in fifth])
        for split, fifth in places.items()
    }


def main(
    table: Out,
    counts: Out,
    source: dict[str, Any],
    name: str,
    n_train: int = 0,
    n_dev: int = 0,
    seed: int = 1,
    files: list[Path] = (),
    generated: Path | None = None,
) -> None:
    """Write the examples and the counts; `generated` holds a generated task's files."""
    task = TASKS[name]
    if generated is not None:
        source = {"path": str(generated)}
    frames, found = [], []
    for split, part in read(source, name, task).items():
        chosen = sample(part.rows, n_train if split == "train" else n_dev, seed)
        frames.append(to_frame(chosen, name, split))
        found.append((split, "rows read", len(part.rows) + len(part.malformed), ""))
        found.append((split, "malformed rows", len(part.malformed), " ".join(part.malformed)))
        found.append((split, "rows not sampled", len(part.rows) - len(chosen), ""))
        found.append((split, "examples", len(chosen), ""))
        for label, n in frames[-1]["label"].value_counts().sort_index().items():
            if task.labels:
                found.append((split, f"label {task.labels[int(label)]}", n, ""))
        if part.malformed:
            lines = ", ".join(part.malformed[:20])
            log.info("%s: %d malformed rows left out: %s", split, len(part.malformed), lines)
    tables.write(pd.concat(frames, ignore_index=True), table)
    frame = pd.DataFrame(found, columns=["split", "what", "n", "lines"])
    tables.write_csv(frame.assign(task=task.title, generated=generated is not None), counts)


def to_frame(rows: list[dict[str, Any]], name: str, split: str) -> pd.DataFrame:
    """The table of one split: `core.tasks.COLUMNS`."""
    records = [
        {
            "split": split,
            "id": f"{name}-{split}-{number:06d}",
            "source": row["source"],
            "text1": row["texts"][0],
            "text2": row["texts"][1] if len(row["texts"]) > 1 else "",
            "label": row["label"],
        }
        for number, row in enumerate(rows)
    ]
    return pd.DataFrame(records, columns=list(COLUMNS))


if __name__ == "__main__":
    job.run(main, globals())
