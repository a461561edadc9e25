"""Kovaleva et al. 2019, section 4.5: the heads with most attention between linked words."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.stages import top_heads

GROUPS = ["task", "stage", "link", "far"]
COLUMNS = ["attention", "ci_low", "ci_high", "n", "links"]
COLUMNS += ["neighbours", "neighbours_low", "neighbours_high"]


def main(links: list[Path], table: Out) -> None:
    """Write the three heads with most attention along each link, and theirs to neighbours.

    A row each by task, stage, link and distance, means over seeds.
    """
    frame = tables.read_all(links)
    frame["task"] = frame["task"].map({name: task.title for name, task in TASKS.items()})
    tables.write_csv(top_heads(frame, GROUPS, "attention", COLUMNS), table)


if __name__ == "__main__":
    job.run(main, globals())
