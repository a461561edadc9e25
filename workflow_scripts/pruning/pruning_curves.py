"""Importance, and the score with more and more heads gone, by strategy (Michel et al., 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, Task, read_task
from workflow_scripts.core.model import devices
from workflow_scripts.core.model.ablation_engine import ablate
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.classifiers import classifier_of, sample_of
from workflow_scripts.core.model.models import max_positions
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import metrics, resampling
from workflow_scripts.pruning import orders
from workflow_scripts.pruning.importance import gradients, importance_table, ranking


@dataclass(frozen=True)
class Plan:
    """An order of pruning, bool [step, layer, head], and the examples scored in it (None: all)."""

    strategy: str
    draw: int
    masks: np.ndarray
    examples: np.ndarray | None = None


def curve(
    task: Task, labels: np.ndarray, logits: np.ndarray, counts: Sequence[int]
) -> pd.DataFrame:
    """One row per step and metric: step, pruned (heads gone), score, of [step, example, label]."""
    rows = []
    for step, (count, one) in enumerate(zip(counts, logits, strict=True)):
        for metric, score in metrics.score(task, labels, one).items():
            rows.append({"step": step, "pruned": count, "metric": metric, "score": score})
    return pd.DataFrame(rows)


def read_sweep(path: Path, ids: Sequence[str], shape: tuple[int, int], n_labels: int) -> np.ndarray:
    """The swept logits with one head at 0, [layer, head, example, label], on the development set.

    Raises RuntimeError where the sweep holds other examples than `ids`.
    """
    frame = tables.read(path, ("split", "unit", "mode", "id"))
    chosen = (frame["split"] == "dev") & (frame["unit"] == "head") & (frame["mode"] == "zero")
    frame = frame[chosen].sort_values(["layer", "head"], kind="stable")
    if frame["id"].tolist()[: len(ids)] != list(ids) or len(frame) != len(ids) * np.prod(shape):
        raise RuntimeError(f"{path}: other examples than those that are pruned on")
    columns = [f"logit_{k}" for k in range(n_labels)]
    return frame[columns].to_numpy().reshape(*shape, len(ids), n_labels)


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    logits: Path,
    importance: Out,
    curves: Out,
    order: Out,
    task: str,
    init: str,
    seed: int,
    step: float,
    strategies: list[str],
    variant: str,
    normalise: bool,
    recompute: bool,
    draws: int,
    examples: int,
    dev_examples: int,
    bootstrap: int,
    max_tokens: int,
    pass_tokens: int,
    precision: str = "float32",
    device: str = "auto",
) -> None:
    """Write importance, the score after every step of every strategy, and when each head goes.

    Importance comes from training examples. Where heads are ranked by their one-head scores, each
    half of the development set is scored in the order that the other half gives, so that no
    example is scored by an order it helped to choose.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    frame, its_task = read_task(table), TASKS[task]
    given = {"tokenizer": tokenizer, "max_tokens": max_tokens, "seed": seed}
    given["max_positions"] = max_positions(model.config)
    tokens, rows = sample_of(frame, "dev", n=dev_examples, **given)
    labels, shape = rows["label"].to_numpy(), (n_layers(model), n_heads(model))
    counts = orders.steps(shape[0] * shape[1], step)
    training, its_rows = sample_of(frame, "train", n=examples, **given)
    its_labels, lengths = its_rows["label"].to_numpy(), [len(one) for one in training]
    values = gradients(model, training, its_labels)
    plans = []
    if "importance" in strategies:
        masks = orders.by_score(first := ranking(values, lengths, variant, normalise), counts)
        if recompute:
            how = (counts, variant, normalise, first)
            masks = orders.by_importance(model, training, its_labels, *how)
        plans.append(Plan("importance", 0, masks))
    if "ablation" in strategies:
        swept = read_sweep(logits, rows["id"].tolist(), shape, its_task.n_labels)
        half = resampling.half_weights(len(rows), 1, seed)[0].astype(bool)
        for part in (half, ~half):
            masks = orders.by_ablation(its_task, labels, swept, part, counts)
            plans.append(Plan("ablation", 0, masks, np.flatnonzero(~part)))
    if "random" in strategies:
        drawn = orders.at_random(shape, counts, draws, seed)
        plans += [Plan("random", draw, masks) for draw, masks in enumerate(drawn)]
    outputs: dict[tuple[str, int], np.ndarray] = {}
    for plan in plans:
        on = np.arange(len(rows)) if plan.examples is None else plan.examples
        some = [tokens[index] for index in on]
        found = ablate(
            model, some, plan.masks, "zero", pass_tokens=pass_tokens, precision=precision
        )
        empty = np.empty((len(counts), len(rows), its_task.n_labels), np.float32)
        outputs.setdefault((plan.strategy, plan.draw), empty)[:, on] = found
    named = {"task": task, "init": init, "seed": seed}
    found = importance_table(values, lengths, bootstrap, seed)
    tables.write(found.assign(**named), importance)
    named["heads"] = shape[0] * shape[1]
    scores = [
        curve(its_task, labels, values, counts).assign(strategy=strategy, draw=draw)
        for (strategy, draw), values in outputs.items()
    ]
    tables.write(pd.concat(scores, ignore_index=True).assign(**named), curves)
    gone = [
        orders.order_of(plan.masks).assign(strategy=plan.strategy, draw=plan.draw, fold=fold)
        for fold, plan in enumerate(plans)
    ]
    tables.write(pd.concat(gone, ignore_index=True).assign(**named), order)


if __name__ == "__main__":
    job.run(main, globals())
