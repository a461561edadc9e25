"""Logits of a trained scorer on ARCT with every head disabled, one at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.arguments.argument_run import kept_models
from workflow_scripts.arguments.families import bert_family
from workflow_scripts.arguments.wording import cue_in, inputs_of, side_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import held_out
from workflow_scripts.core.model import running
from workflow_scripts.core.model.ablation_engine import sweep
from workflow_scripts.core.run import job


def main(
    model: Path,
    table: Path,
    weights: Path,
    heads: job.Out,
    setups: list[str],
    cue: str,
    same: Mapping[str, str],
    mode: str,
    points: int,
    settings: dict[str, Any],
    pass_tokens: int,
    seed: int,
    sample_seed: int,
    precision: str = "float32",
    device: str = "auto",
) -> None:
    """Write the logits on at most `points` (0: all) original points of each held-out split."""
    family, frames = bert_family(read_card(model), settings), []
    splits = held_out(tables.read(table))
    sampled = [tables.sample_rows(rows, points, sample_seed) for rows in splits]
    chosen = pd.concat(sampled, ignore_index=True)
    chosen["side"] = side_of(cue_in(chosen, tuple(cue.lower().split()), same))
    limits = {"pass_tokens": pass_tokens, "precision": precision}
    for setup, scorer in kept_models(family, weights, setups, running.pick_device(device)):
        tokens = [family.encode(texts) for texts in inputs_of(chosen, setup)]
        texts = sweep(scorer, tokens, {"head": [mode]}, **limits)
        # A row per variant and point, whose warrants stand after one another.
        rows = texts.loc[texts["example"] % 2 == 0, ["layer", "head"]].reset_index(drop=True)
        rows[["logit_0", "logit_1"]] = texts["logit_0"].to_numpy().reshape(-1, 2)
        about = chosen.loc[np.arange(len(rows)) % len(chosen), ["split", "id", "label", "side"]]
        frames.append(rows.join(about.reset_index(drop=True)).assign(setup=setup))
    tables.write(pd.concat(frames, ignore_index=True).assign(seed=seed), heads)


if __name__ == "__main__":
    job.run(main, globals())
