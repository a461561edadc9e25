"""The tasks of a study, opened by the readers of its rules: the first rows of each."""

from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments.published_runs import read_published
from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.packages import path_of
from workflow_scripts.preflight.corpora import Opened
from workflow_scripts.preflight.first_records import is_large, read_start
from workflow_scripts.tasks import generate_arct, generate_task, prepare_arct, prepare_task
from workflow_scripts.tasks.arct_files import splits_in
from workflow_scripts.tasks.fetch_arct import URLS
from workflow_scripts.tasks.glue_files import SplitRows

GENERATED = 60  # rows that are written to see that the grammar and the reader agree
FIRST = 200


def glue(
    name: str, entry: dict[str, Any], n_examples: int, folder: Path, seed: int
) -> tuple[Opened, str]:
    """The first rows of every split of a GLUE task."""
    if "hub" in entry:
        return _of_hub(name, entry, n_examples)
    large = False
    if "generate" in entry:
        made = folder / f"{name}.generated"
        sizes = (min(entry["generate"][split], GENERATED) for split in ("train", "dev"))
        generate_task.main(made, name, *sizes, seed)
        splits = prepare_task.read({"path": str(made)}, name, TASKS[name])
    else:
        path = path_of(entry)
        large = path.exists() and is_large(path)
        without = {key: value for key, value in entry.items() if key not in ("package", "path")}

        def read(start: Path) -> dict[str, SplitRows]:
            return prepare_task.read(without | {"path": str(start)}, name, TASKS[name])

        splits = read_start(path, folder, read)
    for split, part in {} if large else splits.items():
        prepare_task.check_labels(prepare_task.to_frame(part.rows, name, split), name, split)
    dev = splits["dev"].rows
    known = entry["generate"]["dev"] if "generate" in entry else None if large else len(dev)
    n = min(size for size in (known, n_examples, entry["n_dev"] or None) if size is not None)
    counted = ", ".join(f"{split} {len(part.rows)}" for split, part in splits.items())
    words = (
        "the first rows: "
        if large
        else "rows written and read: "
        if "generate" in entry
        else "rows: "
    )
    return Opened(_examples(name, dev), n), words + counted


def _of_hub(name: str, entry: dict[str, Any], n_examples: int) -> tuple[Opened, str]:
    task, found = TASKS[name], {}
    for split, hub_split in task.hub_splits.items():
        source = entry | {"name": entry.get("name", name), "split": hub_split}
        rows = islice(load_rows(source, (*task.hub, "label")), FIRST)
        found[split] = [{"source": "", "texts": [row[key] for key in task.hub]} for row in rows]
    n = min(n_examples, entry["n_dev"] or n_examples)
    counted = ", ".join(f"{split} {len(rows)}" for split, rows in found.items())
    return Opened(_examples(name, found["dev"]), n), f"the first rows: {counted}"


def _examples(name: str, rows: list[dict[str, Any]]) -> list[Example]:
    return [
        Example(f"{name}-{k}", f"{name}-{k}", row["source"], tuple(row["texts"]))
        for k, row in enumerate(rows[:FIRST])
    ]


def arct(
    entry: dict[str, Any], folder: Path, network: Any, seed: int
) -> tuple[pd.DataFrame | None, str]:
    """The points (split, id, label) of ARCT; None where they are fetched when the study runs."""
    if entry.get("fetch"):
        sizes = [network.of_url(url) or 0 for url in URLS.values()]
        return (
            None,
            f"{len(sizes)} files are there, {sum(sizes)} bytes: fetched when the study runs",
        )
    if "generate" in entry:
        directory = folder / "arct"
        generate_arct.main(directory, entry["generate"], seed)
    else:
        directory = Path(entry["path"])
    splits = splits_in(directory, entry)
    if entry["adversarial"] != "none":
        for split, rows in splits.items():
            prepare_arct.counterparts(split, rows, directory, entry["adversarial"])
    points = [pd.DataFrame(rows).assign(split=split) for split, rows in splits.items()]
    counted = ", ".join(f"{split} {len(rows)}" for split, rows in splits.items())
    return pd.concat(points, ignore_index=True)[["split", "id", "label"]], f"points: {counted}"


def runs(path: str, points: pd.DataFrame | None, degenerate: dict[str, float]) -> tuple[None, str]:
    """The authors' runs, against the study's points where these are known."""
    if points is None:
        return None, "not read before tasks.arct is there"
    rows = read_published(Path(path), points, degenerate)
    return None, f"{len(rows)} predictions"
