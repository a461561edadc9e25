"""Importance of a translator's heads, and its BLEU with more and more gone (Michel et al., 4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import n_heads, sublayers
from workflow_scripts.core.model.translators import translator_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.translation_metrics import METRICS
from workflow_scripts.translation.translation_curves import (
    ScopedOrder,
    by_head,
    curves_of,
    gradients_on,
    importance_table,
    plans_of,
    read_split,
)

CHOSEN_ON, MEASURED_ON = "validation", "test"
HEAD = ["type", "layer", "head"]


def one_head_ranks(sweep: Path, order: Sequence[Sublayer], n_heads: int) -> np.ndarray:
    """Ranks from 0, [sublayer, head]: first the head without which validation BLEU is highest.

    Among heads of equal BLEU, the one with the lower teacher-forced loss is first.
    """
    columns = [name for metric in ("bleu", "loss") for name in METRICS[metric].columns]
    frame = tables.read(sweep, ("split", "unit", "mode", *HEAD, *columns))
    chosen = (frame["split"] == CHOSEN_ON) & (frame["unit"] == "head") & (frame["mode"] == "zero")
    sums = frame[chosen].groupby(HEAD)[columns].sum()
    heads = by_head(order, rank=np.empty((len(order), n_heads)))[HEAD]
    sums = sums.loc[pd.MultiIndex.from_frame(heads)]
    bleu, loss = (
        METRICS[metric].score(sums[list(METRICS[metric].columns)].to_numpy().T)
        for metric in ("bleu", "loss")
    )
    return np.lexsort((loss, -bleu)).argsort().reshape(len(order), n_heads)


def order_table(plans: Sequence[ScopedOrder], order: Sequence[Sublayer]) -> pd.DataFrame:
    """One row per plan and head of its scope: the first step in which the head is gone."""
    frames = []
    for plan in plans:
        gone = effects.order_of(plan.masks[:, plan.sublayers])
        step = gone["step"].to_numpy().reshape(-1, plan.masks.shape[2])
        own = [sublayer for sublayer, kept in zip(order, plan.sublayers, strict=True) if kept]
        about = {"strategy": plan.strategy, "scope": plan.scope, "draw": plan.draw}
        frames.append(by_head(own, step=step).assign(**about))
    return pd.concat(frames, ignore_index=True)


def main(
    card: Path,
    pairs: Path,
    sweep: Path,
    importance: Out,
    curves: Out,
    order: Out,
    run: str,
    generation: dict[str, Any],
    settings: dict[str, Any],
    measurement: dict[str, Any],
    device: str = "auto",
    checkpoint: list[Path] = (),
) -> None:
    """Write importance, the scores after every step of every order, and when each head goes.

    Importance is estimated once, on training pairs; one-head scores are those of the sweep on the
    validation set; what is left is measured on the test set. `settings` are a study's
    `translation.pruning`: those of plans_of, and the training pairs behind importance (examples, 0:
    all). `measurement` has the test sentences (0: all), pass_rows, bootstrap, and the seed of all
    samples. `checkpoint` are the files that `card` describes, where there are any.
    """
    seed = measurement["seed"]
    translator = translator_of(read_card(card), generation, running.pick_device(device))
    modules, heads = sublayers(translator.model), n_heads(translator.model)
    training = read_split(pairs, "train", settings["examples"], seed)
    values = gradients_on(translator, training)
    table = importance_table(values, modules, measurement["bootstrap"], seed)
    tables.write(table.assign(run=run), importance)
    scores = {"importance": effects.normalised(values.mean(axis=0))}
    if "score" in settings["strategies"]:
        scores["score"] = one_head_ranks(sweep, modules, heads)
    plans = plans_of(scores, modules, settings, seed)
    tables.write(order_table(plans, modules).assign(run=run), order)
    test = read_split(pairs, MEASURED_ON, measurement["sentences"], seed)
    tables.write(curves_of(translator, test, plans, measurement).assign(run=run), curves)


if __name__ == "__main__":
    job.run(main, globals())
