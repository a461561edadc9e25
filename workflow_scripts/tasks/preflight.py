"""What the preflight opens of the tasks, with the readers of their rules: the first rows."""

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data.first_records import is_large, read_start
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.data.packages import path_of
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.run.findings import Findings
from workflow_scripts.tasks import generate_arct, generate_task, prepare_arct, prepare_task
from workflow_scripts.tasks.arct_files import splits_in
from workflow_scripts.tasks.glue_files import SplitRows

GENERATED = 60  # rows that are written to see that the grammar and the reader agree
FIRST = 200


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Open every task, and load the parser that annotates them."""
    seed = config["seed"]
    for name, entry in config["tasks"].items():
        if name == "arct":
            check = partial(arct, entry, folder, seed)
        else:
            read = partial(glue, name, entry, folder, seed)
            check = partial(network.local_or_hub, entry, read)
        found.look(f"tasks.{name}", check)
    if config["tasks"].keys() - {"arct"}:
        spacy = config["attention"]["spacy"]
        found.look("attention.spacy", lambda: (load_spacy(spacy), f"{spacy} loads"))


def glue(name: str, entry: dict[str, Any], folder: Path, seed: int) -> tuple[None, str]:
    """The first rows of every split of a GLUE task."""
    if "hub" in entry:
        return _of_hub(name, entry)
    words, large = "rows: ", False
    if "generate" in entry:
        made = folder / f"{name}.generated"
        sizes = (min(entry["generate"][split], GENERATED) for split in ("train", "dev"))
        generate_task.main(made, name, *sizes, seed)
        splits = prepare_task.read({"path": str(made)}, name, TASKS[name])
        words = "rows written and read: "
    else:
        path = path_of(entry)
        large = path.exists() and is_large(path)
        without = {key: value for key, value in entry.items() if key not in ("package", "path")}

        def read(start: Path) -> dict[str, SplitRows]:
            return prepare_task.read(without | {"path": str(start)}, name, TASKS[name])

        splits = read_start(path, folder, read)
    if large:
        words = "the first rows: "
    else:
        for split, part in splits.items():
            prepare_task.check_labels(prepare_task.to_frame(part.rows, name, split), name, split)
    return None, words + _counted({split: part.rows for split, part in splits.items()})


def _of_hub(name: str, entry: dict[str, Any]) -> tuple[None, str]:
    task, found = TASKS[name], {}
    for split, hub_split in task.hub_splits.items():
        source = entry | {"name": entry.get("name", name), "split": hub_split}
        found[split] = list(islice(load_rows(source, (*task.hub, "label")), FIRST))
    return None, f"the first rows: {_counted(found)}"


def _counted(splits: dict[str, list]) -> str:
    return ", ".join(f"{split} {len(rows)}" for split, rows in splits.items())


def arct(entry: dict[str, Any], folder: Path, seed: int) -> tuple[pd.DataFrame, str]:
    """The points (split, id, label) of ARCT."""
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
    kept = pd.concat(points, ignore_index=True)[["split", "id", "label"]]
    return kept, f"points: {_counted(splits)}"
