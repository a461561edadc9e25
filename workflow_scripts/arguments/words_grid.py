"""A word-vector family on ARCT: the declared grid, searched with the first seed."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments import runs
from workflow_scripts.arguments.word_models import family_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    table: Path,
    vectors: Path,
    words: Path,
    grid: Out,
    family: str,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    seed: int,
    device: str = "auto",
) -> None:
    """Write the development accuracy of every set-up at every point."""
    frame = read_arct(table)
    its_family = family_of(family, frame, vectors, words, settings)
    given = frame, setups, trained_on, settings, seed, devices.pick(device)
    tables.write_csv(runs.search(its_family, *given), grid)


if __name__ == "__main__":
    job.run(main, globals())
