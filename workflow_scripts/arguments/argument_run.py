"""A family of models trained on ARCT, in every set-up (Niven and Kao 2019)."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from workflow_scripts.arguments.argument_training import (
    Family,
    Hyperparameters,
    LabelledPoints,
    RunPlan,
    Texts,
    fit,
    logits_of,
)
from workflow_scripts.arguments.families import open_family
from workflow_scripts.arguments.wording import inputs_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TRAINED_ON, points_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import running
from workflow_scripts.core.run import job

Encode = Callable[[Texts], Any]


def labelled(encode: Encode, points: pd.DataFrame, setup: str) -> LabelledPoints:
    """The points of a table as the set-up shows them."""
    labels = points["label"].to_numpy(np.int64, copy=True)
    return LabelledPoints([*map(encode, inputs_of(points, setup))], labels)


def grid_of(values: dict[str, list[float]]) -> list[Hyperparameters]:
    """Every point of a grid, which lists the values of each hyperparameter."""
    return [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]


def sets_of(points: pd.DataFrame, trained_on: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and development points. Raises InputError where the table lacks a version."""
    training, dev = TRAINED_ON[trained_on]
    if {*training, *dev} - set(points["version"]):
        raise InputError(
            f"arguments.train_on: {trained_on}: needs an adversarial set; see tasks.arct"
        )
    return points_of(points, "train", training), points_of(points, "dev", dev)


def search(family: Family, points: pd.DataFrame, plan: RunPlan) -> pd.DataFrame:
    """A row per set-up and point of the grid: its best dev_accuracy, and whether it is the best."""
    encode, rows = cache(family.encode), []
    sets = sets_of(points, plan.trained_on)
    for setup in plan.setups:
        training, dev = (labelled(encode, part, setup) for part in sets)
        tried = []
        for chosen in grid_of(plan.settings["grid"]):
            _, curve = fit(family, plan, setup, chosen, training, dev)
            accuracy = max(row["dev_accuracy"] for row in curve)
            tried.append({"setup": setup, **chosen, "dev_accuracy": accuracy})
        best = int(np.argmax([row["dev_accuracy"] for row in tried]))
        rows += [row | {"best": number == best} for number, row in enumerate(tried)]
    return pd.DataFrame(rows)


def train_all(
    family: Family,
    points: pd.DataFrame,
    plan: RunPlan,
    grid: Path | None,
    weights: Path,
) -> pd.DataFrame:
    """Train each set-up at the point that `grid` (the table of `search`) has chosen; the curves.

    The weights are saved below `weights`, in a folder for each set-up.
    """
    encode, curves = cache(family.encode), []
    sets = sets_of(points, plan.trained_on)
    weights.mkdir()
    for setup in plan.setups:
        searched = "full" if plan.settings["search"] == "full" else setup
        chosen = chosen_in(plan.settings["grid"], grid, searched)
        training, dev = (labelled(encode, part, setup) for part in sets)
        model, curve = fit(family, plan, setup, chosen, training, dev)
        family.save(model, weights / setup)
        curves.append(pd.DataFrame(curve).assign(setup=setup, **chosen))
    about = {"family": family.name, "trained_on": plan.trained_on, "seed": plan.seed}
    return pd.concat(curves, ignore_index=True).assign(**about)


def kept_models(
    family: Family, weights: Path, setups: Sequence[str], device: torch.device
) -> Iterator[tuple[str, nn.Module]]:
    """The saved model of each set-up, with the set-up's name."""
    for setup in setups:
        yield setup, family.load(weights / setup, setup, device)


def chosen_in(values: dict[str, list[float]], grid: Path | None, setup: str) -> Hyperparameters:
    """The grid's only point, or the one that the search (its table `grid`) chose for the set-up."""
    if grid is None:
        return grid_of(values)[0]
    rows = tables.read_csv(grid)
    best = rows[(rows["setup"] == setup) & rows["best"]].iloc[0]
    return next(
        candidate
        for candidate in grid_of(values)
        if all(np.isclose(best[name], value) for name, value in candidate.items())
    )


def predict(
    family: Family, model: nn.Module, encode: Encode, points: pd.DataFrame, setup: str
) -> pd.DataFrame:
    """The logits of every point; equal texts are scored once, `encode` may remember them."""
    texts = inputs_of(points, setup)
    distinct = list(dict.fromkeys(texts))
    number_of = {text: number for number, text in enumerate(distinct)}
    paired = distinct + distinct[: len(distinct) % 2]  # logits come in pairs
    scores = logits_of(family, model, [*map(encode, paired)]).ravel()
    logits = scores[[number_of[text] for text in texts]].reshape(-1, 2)
    about = points[["version", "id", "label"]].reset_index(drop=True)
    return about.assign(setup=setup, logit_0=logits[:, 0], logit_1=logits[:, 1])


def main(
    table: Path,
    weights: job.Out,
    curves: job.Out,
    family: str,
    setups: list[str],
    trained_on: str,
    settings: dict[str, Any],
    seed: int,
    device: str = "auto",
    grid: Path | None = None,
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> None:
    """Write a row per epoch, and the weights: `weights`/<set-up>."""
    points = tables.read(table)
    opened = open_family(family, settings, points, model, vectors, words)
    plan = RunPlan(setups, trained_on, settings, seed, running.pick_device(device))
    tables.write_csv(train_all(opened, points, plan, grid, weights), curves)


if __name__ == "__main__":
    job.run(main, globals())
