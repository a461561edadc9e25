"""A family of models on ARCT: the declared grid, searched with a seed of its own."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments.argument_run import search
from workflow_scripts.arguments.argument_training import RunPlan
from workflow_scripts.arguments.families import open_family
from workflow_scripts.core.data import tables
from workflow_scripts.core.model import running
from workflow_scripts.core.run import job


def main(
    table: Path,
    grid: job.Out,
    family: str,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    seed: int,
    device: str = "auto",
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> None:
    """Write the development accuracy of every set-up at every point of the grid."""
    points = tables.read(table)
    plan = RunPlan(setups, trained_on, settings, seed, running.pick_device(device))
    opened = open_family(family, settings, points, model, vectors, words)
    tables.write_csv(search(opened, points, plan), grid)


if __name__ == "__main__":
    job.run(main, globals())
