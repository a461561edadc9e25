"""BERT on ARCT: the declared grid, searched with the first seed."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments import runs
from workflow_scripts.arguments.bert import bert_family
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    model: Path,
    table: Path,
    grid: Out,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    seed: int,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write the development accuracy of every set-up at every point."""
    its_family = bert_family(read_card(model), settings)
    given = read_arct(table), setups, trained_on, settings, seed, devices.pick(device)
    tables.write_csv(runs.search(its_family, *given), grid)


if __name__ == "__main__":
    job.run(main, globals())
