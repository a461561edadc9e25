"""What a task's classifiers are trained on: it does not depend on what they are scored on."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.tasks.prepare_task import check_labels, read, sampled


def main(
    training: job.Out,
    source: dict[str, Any],
    name: str,
    n_train: int = 0,
    seed: int = 1,
    generated: Path | None = None,
) -> None:
    """Write the examples of `train`, as in the table of `prepare_task`.

    Raises InputError where there is no training file.
    """
    task = TASKS[name]
    if generated is not None:
        source = {"path": str(generated)}
    splits = read(source, name, task, wanted=["train"])
    if "train" not in splits:
        raise InputError(f"{name}: no training file; put one next to that of dev")
    frame = sampled(splits["train"], name, "train", n_train, seed)
    check_labels(frame, name, "train")
    tables.write(frame, training)


if __name__ == "__main__":
    job.run(main, globals())
