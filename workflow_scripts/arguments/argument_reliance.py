"""A trained family of models on ARCT with a cue removed or moved to the other warrant."""

import logging
import random
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from torch import nn

from workflow_scripts.arguments.argument_cues import LEVEL
from workflow_scripts.arguments.argument_run import kept_models, predict
from workflow_scripts.arguments.argument_training import Family
from workflow_scripts.arguments.families import open_family
from workflow_scripts.arguments.wording import (
    CHANGES,
    WARRANTS,
    Cue,
    cue_in,
    exchanged,
    side_of,
    without,
    without_another,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import held_out
from workflow_scripts.core.model import running
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)


def changed(
    points: pd.DataFrame, cue: Cue, same: Mapping[str, str], change: str, seed: int
) -> pd.DataFrame:
    """The points, each with its cue changed; the column `side` names the warrant that has it."""
    rows = []
    for row in points.to_dict("records"):
        own, opposite = WARRANTS[row["side"]], WARRANTS[1 - row["side"]]
        if change == "removed":
            new = {own: without(row[own], cue, same)}
        elif change == "exchanged":
            texts = exchanged(row[own], row[opposite], cue, same)
            new = dict(zip((own, opposite), texts, strict=True))
        else:
            rng = random.Random(f"{seed}-{row['id']}-{cue}")
            new = {own: without_another(row[own], cue, same, rng)}
        rows.append(row | new)
    return pd.DataFrame(rows)


def cues_to_change(cues: pd.DataFrame, cue: str, max_cues: int) -> list[Cue]:
    """The study's own cue, then those of the training set that are furthest from chance."""
    train = cues[(cues["data"] == "original") & (cues["split"] == "train")]
    beyond = train[train["p_corrected"] < LEVEL].sort_values("p", kind="stable")["cue"]
    names = list(dict.fromkeys([cue.lower(), *beyond]))[:max_cues]
    return [tuple(name.split()) for name in names]


def with_changes(
    points: pd.DataFrame, cue: Cue, same: Mapping[str, str], seed: int
) -> dict[str, pd.DataFrame]:
    """The points that a cue is applicable to, unchanged (`none`) and under each of CHANGES.

    A point with a warrant that is nothing but the cue is left out and counted in the log.
    """
    applicable = points.assign(side=side_of(cue_in(points, cue, same)))
    applicable = applicable[applicable["side"] >= 0].reset_index(drop=True)
    if not len(applicable):
        return {}
    rest = [without(row[WARRANTS[row["side"]]], cue, same) for _, row in applicable.iterrows()]
    if n := rest.count(""):
        log.info("%s: %d points left out, the cue is the whole warrant", " ".join(cue), n)
    applicable = applicable[[text != "" for text in rest]].reset_index(drop=True)
    changes = {change: changed(applicable, cue, same, change, seed) for change in CHANGES}
    return {"none": applicable} | changes


def measure(
    family: Family,
    models: Iterable[tuple[str, nn.Module]],
    points: Mapping[Cue, Mapping[str, pd.DataFrame]],
) -> pd.DataFrame:
    """Logits of the model of each set-up on the points of every cue and change."""
    encode, frames = cache(family.encode), []
    for setup, model in models:
        for cue, changes in points.items():
            for change, frame in changes.items():
                logits = predict(family, model, encode, frame, setup)
                about = {"cue": " ".join(cue), "change": change}
                about |= {"split": frame["split"], "side": frame["side"]}
                frames.append(logits.assign(**about))
    return pd.concat(frames, ignore_index=True).assign(family=family.name)


def main(
    table: Path,
    cues: Path,
    weights: Path,
    reliance: job.Out,
    family: str,
    setups: list[str],
    settings: dict[str, Any],
    cue: str,
    max_cues: int,
    same: dict[str, str],
    seed: int,
    sample_seed: int,
    device: str = "auto",
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> None:
    """Write the logits on unchanged and changed points, for every kept set-up."""
    points = tables.read(table)
    opened = open_family(family, settings, points, model, vectors, words)
    measured_cues = tables.read(cues)
    chosen = cues_to_change(measured_cues, cue, max_cues)
    models = kept_models(opened, weights, setups, running.pick_device(device))
    held = pd.concat(held_out(points), ignore_index=True)
    changed_points = {each: with_changes(held, each, same, sample_seed) for each in chosen}
    tables.write(measure(opened, models, changed_points).assign(seed=seed), reliance)


if __name__ == "__main__":
    job.run(main, globals())
