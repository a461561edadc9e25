"""Kovaleva et al. 2019, section 4.5: the heads with most attention between linked words."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

GROUPS = ["task", "stage", "link", "far"]


def strongest(frame: pd.DataFrame, n: int = 3) -> pd.DataFrame:
    """The `n` heads with most attention along each link, with their attention to neighbours."""
    mean = frame.groupby([*GROUPS, "layer", "head"], sort=False, as_index=False).mean(
        numeric_only=True
    )
    top = mean.dropna(subset="attention").sort_values("attention", ascending=False)
    top = top.groupby(GROUPS, sort=False).head(n)
    top = top.sort_values([*GROUPS, "attention"], ascending=[True] * 4 + [False])
    columns = ["attention", "ci_low", "ci_high", "n", "links", "neighbours"]
    return top.assign(head=labels(top))[[*GROUPS, "head", *columns]]


def main(links: list[Path], table: Out) -> None:
    """Write the three strongest heads of each task, stage, link and distance, over all seeds."""
    frame = tables.read_all(links)
    frame["task"] = frame["task"].map({name: task.title for name, task in TASKS.items()})
    tables.write_csv(strongest(frame), table)


if __name__ == "__main__":
    job.run(main, globals())
