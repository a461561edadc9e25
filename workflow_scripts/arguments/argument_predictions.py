"""What trained models predict on ARCT (Niven and Kao 2019, Tables 1, 3 and 4)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from torch import nn

from workflow_scripts.arguments.argument_run import kept_models, predict, sets_of
from workflow_scripts.arguments.argument_training import Family
from workflow_scripts.arguments.families import open_family
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import points_of, splits_of
from workflow_scripts.core.model import running
from workflow_scripts.core.run import job

HELD_OUT = ("original", "negated")


def predict_all(
    family: Family,
    models: Iterable[tuple[str, nn.Module]],
    points: pd.DataFrame,
    trained_on: str,
) -> pd.DataFrame:
    """Logits of the model of each set-up on its training set and the held-out ones."""
    encode, predictions = cache(family.encode), []
    parts = {"train": sets_of(points, trained_on)[0]}
    parts |= {split: points_of(points, split, HELD_OUT) for split in splits_of(points)[1:]}
    for setup, model in models:
        for split, part in parts.items():
            logits = predict(family, model, encode, part, setup)
            predictions.append(logits.assign(split=split))
    about = {"family": family.name, "trained_on": trained_on}
    return pd.concat(predictions, ignore_index=True).assign(**about)


def main(
    table: Path,
    weights: Path,
    predictions: job.Out,
    family: str,
    setups: list[str],
    trained_on: str,
    seed: int,
    settings: dict[str, Any],
    device: str = "auto",
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> None:
    """Write the logits of every set-up, whose weights are in `weights`/<set-up>."""
    points = tables.read(table)
    opened = open_family(family, settings, points, model, vectors, words)
    models = kept_models(opened, weights, setups, running.pick_device(device))
    tables.write(predict_all(opened, models, points, trained_on).assign(seed=seed), predictions)


if __name__ == "__main__":
    job.run(main, globals())
