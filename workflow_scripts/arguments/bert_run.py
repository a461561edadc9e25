"""BERT on ARCT: one seed, every set-up (Niven and Kao 2019, Tables 1, 3 and 4)."""

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
    weights: Out,
    predictions: Out,
    curves: Out,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    keep: list[str],
    seed: int,
    device: str = "auto",
    grid: Path | None = None,
    files: list[Path] = (),
) -> None:
    """Write the logits, a row per epoch, and the weights of the set-ups in `keep`."""
    its_family = bert_family(read_card(model), settings)
    given = read_arct(table), setups, trained_on, settings, grid, seed, devices.pick(device)
    logits, epochs = runs.train_all(its_family, *given, weights, keep)
    tables.write(logits, predictions)
    tables.write_csv(epochs, curves)


if __name__ == "__main__":
    job.run(main, globals())
