"""A family of models on ARCT: every seed and set-up (Niven and Kao 2019, Tables 1, 3 and 4)."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments.families import open_family
from workflow_scripts.arguments.runs import RunPlan, train_all
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    table: Path,
    weights: Out,
    predictions: Out,
    curves: Out,
    family: str,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    keep: list[str],
    seeds: list[int],
    device: str = "auto",
    grid: Path | None = None,
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
    files: list[Path] = (),
) -> None:
    """Write the logits, a row per epoch, and the weights of the set-ups in `keep`.

    The weights are below `weights`/<seed>/<set-up>.
    """
    points = read_arct(table)
    opened = open_family(family, settings, points, model, vectors, words)
    weights.mkdir()
    runs = []
    for seed in job.progress(seeds, desc="seeds"):
        plan = RunPlan(setups, trained_on, settings, seed, devices.pick(device))
        runs.append(train_all(opened, points, plan, grid, weights / str(seed), keep))
    logits, epochs = (pd.concat(frames, ignore_index=True) for frames in zip(*runs, strict=True))
    tables.write(logits, predictions)
    tables.write_csv(epochs, curves)


if __name__ == "__main__":
    job.run(main, globals())
