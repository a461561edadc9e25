"""Runs on ARCT: a model for each set-up, trained on one of the training sets, and its logits."""

import itertools
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from workflow_scripts.arguments.argument_training import Family, Labelled, Texts, fit, logits_of
from workflow_scripts.arguments.setups import inputs_of
from workflow_scripts.core.data.arct import TRAINED_ON, points_of, splits_of
from workflow_scripts.core.run.errors import InputError

log = logging.getLogger(__name__)
HELD_OUT = ("original", "negated")


class Encoder:
    """Encodes texts with a family, each once."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.known: dict[Texts, Any] = {}

    def __call__(self, texts: Sequence[Texts]) -> list[Any]:
        for one in texts:
            if one not in self.known:
                self.known[one] = self.family.encode(one)
        return [self.known[one] for one in texts]

    def labelled(self, frame: pd.DataFrame, setup: str) -> Labelled:
        """The points of a table as the set-up shows them."""
        return Labelled(self(inputs_of(frame, setup)), frame["label"].to_numpy(np.int64, copy=True))


def grid_of(values: dict[str, list[float]]) -> list[dict[str, float]]:
    """Every point of a grid, given the values of each name."""
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def sets_of(frame: pd.DataFrame, trained_on: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and development points. Raises InputError where the table lacks a version."""
    missing = {one for part in TRAINED_ON[trained_on] for one in part} - set(frame["version"])
    if missing:
        raise InputError(
            f"arguments.train_on: {trained_on}: needs an adversarial set; see tasks.arct"
        )
    training, dev = TRAINED_ON[trained_on]
    return points_of(frame, "train", training), points_of(frame, "dev", dev)


def search(
    family: Family,
    frame: pd.DataFrame,
    setups: Sequence[str],
    trained_on: str,
    settings: dict[str, Any],
    seed: int,
    device: torch.device,
) -> pd.DataFrame:
    """The grid: a row per set-up and point with its best development accuracy, and the chosen.

    Columns: setup, the grid's names, dev_accuracy, best (the first of equals).
    """
    encode, rows = Encoder(family), []
    sets = sets_of(frame, trained_on)
    for setup in setups:
        training, dev = (encode.labelled(part, setup) for part in sets)
        its = []
        for point in grid_of(settings["grid"]):
            _, curve = fit(family, setup, point, seed, training, dev, *_lengths(settings), device)
            its.append(
                {"setup": setup, **point, "dev_accuracy": max(r["dev_accuracy"] for r in curve)}
            )
        best = int(np.argmax([row["dev_accuracy"] for row in its]))
        rows += [row | {"best": number == best} for number, row in enumerate(its)]
    return pd.DataFrame(rows)


def train_all(
    family: Family,
    frame: pd.DataFrame,
    setups: Sequence[str],
    trained_on: str,
    settings: dict[str, Any],
    grid: Path | None,
    seed: int,
    device: torch.device,
    weights: Path,
    keep: Sequence[str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train each set-up at the chosen point of the grid.

    Returns predictions, a row per point of the training set and of the held-out sets in both
    versions (columns setup, split, version, id, label, logit_0, logit_1), and the curves. The
    weights of the set-ups in `keep` are saved below `weights`.
    """
    encode, predictions, curves = Encoder(family), [], []
    sets = sets_of(frame, trained_on)
    weights.mkdir()
    for setup in setups:
        point = chosen_point(settings, grid, setup)
        training, dev = (encode.labelled(part, setup) for part in sets)
        model, rows = fit(family, setup, point, seed, training, dev, *_lengths(settings), device)
        if setup in keep:
            family.save(model, weights / setup)
        curves.append(pd.DataFrame(rows).assign(setup=setup, **point))
        parts = {"train": sets[0]}
        parts |= {split: points_of(frame, split, HELD_OUT) for split in splits_of(frame)[1:]}
        for split, part in parts.items():
            its = predict(family, model, encode, part, setup)
            predictions.append(its.assign(split=split))
        best = max(row["dev_accuracy"] for row in rows)
        log.info("%s, %s, seed %d: dev %.3f", family.name, setup, seed, best)
    about = {"family": family.name, "trained_on": trained_on, "seed": seed}
    return tuple(pd.concat(one, ignore_index=True).assign(**about) for one in (predictions, curves))


def kept_models(
    family: Family, weights: Sequence[Path], setups: Sequence[str], device: torch.device
) -> Iterator[tuple[dict[str, Any], nn.Module]]:
    """Each saved model with its `setup` and `seed`; a folder of weights ends in the seed."""
    for folder, setup in itertools.product(weights, setups):
        named = {"setup": setup, "seed": int(folder.name.rpartition(".")[2])}
        yield named, family.load(folder / setup, setup, device)


def chosen_point(settings: dict[str, Any], grid: Path | None, setup: str) -> dict[str, float]:
    """The grid's only point, or the one that the search chose for the set-up."""
    if grid is None:
        return grid_of(settings["grid"])[0]
    found = pd.read_csv(grid)
    best = found[(found["setup"] == setup) & found["best"]].iloc[0]
    return next(
        point
        for point in grid_of(settings["grid"])
        if all(np.isclose(best[name], value) for name, value in point.items())
    )


def predict(
    family: Family, model: nn.Module, encode: Encoder, frame: pd.DataFrame, setup: str
) -> pd.DataFrame:
    """The logits of every point: version, id, label, setup, logit_0, logit_1; equal texts once."""
    texts = inputs_of(frame, setup)
    distinct = list(dict.fromkeys(texts))
    place = {one: number for number, one in enumerate(distinct)}
    padded = distinct + distinct[: len(distinct) % 2]  # logits come in pairs
    scores = logits_of(family, model, encode(padded)).ravel()
    logits = scores[[place[one] for one in texts]].reshape(-1, 2)
    found = frame[["version", "id", "label"]].reset_index(drop=True)
    return found.assign(setup=setup, logit_0=logits[:, 0], logit_1=logits[:, 1])


def _lengths(settings: dict[str, Any]) -> tuple[int, int]:
    return settings["epochs"], settings["batch_size"]
