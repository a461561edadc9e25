"""Importance and pruning after each epoch of a translator's training (Michel et al., section 6)."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.attention import sublayers
from workflow_scripts.core.model.translators import load_translator
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects
from workflow_scripts.translation.translation_pruning import (
    ALL,
    MEASURED_ON,
    by_head,
    curves_of,
    gradients_on,
    plans_of,
    read_split,
)


def measured_epochs(n: int, which: str) -> list[int]:
    """The epochs of `n`, from 1, whose curves are measured: every one, or 1, 2, 4 ... and the last.

    Early in a training the importance changes from one epoch to the next, later it hardly does.
    """
    if which == "every":
        return list(range(1, n + 1))
    return [*(2**k for k in range(n.bit_length()) if 2**k < n), n]


def main(
    card: Path,
    pairs: Path,
    epochs: Path,
    training: job.Out,
    importance: job.Out,
    run: str,
    generation: dict[str, Any],
    settings: dict[str, Any],
    measurement: dict[str, Any],
    device: str = "auto",
) -> None:
    """Write every epoch's importance next to the last one's, and epochs' curves of joint pruning.

    Each epoch's importance is estimated once, in that epoch's model, on the same training pairs.
    `agreement` is Spearman's correlation of an epoch's importance, normalised as it ranks the
    heads, with the last one's, over heads. `settings` and `measurement` are those of
    translation_pruning, with the epochs whose curves are measured: every, or doubling.
    """
    pruning, seed = settings | {"strategies": ["importance"]}, measurement["seed"]
    described, picked = read_card(card), running.pick_device(device)
    remedy = "set translation.train.every_epoch, and more epochs than one"
    weights = models.weights_by_epoch(epochs, models.directory_of(described), remedy)
    estimated_on = read_split(pairs, "train", pruning["examples"], seed)
    test = read_split(pairs, MEASURED_ON, measurement["sentences"], seed)
    measured = measured_epochs(len(weights), pruning["epochs"])
    ranked, importances, lines = {}, {}, []
    for epoch, directory in enumerate(weights, start=1):
        translator = load_translator(directory, described, generation, picked)
        order = sublayers(translator.model)
        importances[epoch] = gradients_on(translator, estimated_on).mean(axis=0)
        ranked[epoch] = effects.normalised(importances[epoch])
        if epoch in measured:
            plans = plans_of({"importance": ranked[epoch]}, order, pruning, seed)
            joint = [plan for plan in plans if plan.scope == ALL]
            lines.append(curves_of(translator, test, joint, measurement).assign(epoch=epoch))
    tables.write(pd.concat(lines, ignore_index=True).assign(run=run), training)
    agreement = effects.agreements(ranked)
    by_epoch = [
        by_head(order, importance=importances[epoch], normalised=ranked[epoch]).assign(
            epoch=epoch, agreement=agreement[epoch]
        )
        for epoch in importances
    ]
    tables.write(pd.concat(by_epoch, ignore_index=True).assign(run=run), importance)


if __name__ == "__main__":
    job.run(main, globals())
