"""A word-vector family on ARCT: one seed, every set-up (Niven and Kao 2019, Tables 1, 3 and 4)."""

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
    weights: Out,
    predictions: Out,
    curves: Out,
    family: str,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    keep: list[str],
    seed: int,
    device: str = "auto",
    grid: Path | None = None,
) -> None:
    """Write the logits, a row per epoch, and the weights of the set-ups in `keep`."""
    frame = read_arct(table)
    its_family = family_of(family, frame, vectors, words, settings)
    given = frame, setups, trained_on, settings, grid, seed, devices.pick(device)
    logits, epochs = runs.train_all(its_family, *given, weights, keep)
    tables.write(logits, predictions)
    tables.write_csv(epochs, curves)


if __name__ == "__main__":
    job.run(main, globals())
