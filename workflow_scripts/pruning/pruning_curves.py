"""Importance, and the score with more and more heads gone, by strategy (Michel et al., 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, Task
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.ablation_engine import ablate
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.classifiers import classifier_and_sampler
from workflow_scripts.core.model.interventions import example_losses
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import effects, metrics
from workflow_scripts.pruning.importance import (
    Definition,
    gradients,
    importance_of,
    ranking,
    scaled,
)


def by_importance(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    counts: Sequence[int],
    definition: Definition,
    first: np.ndarray,
) -> np.ndarray:
    """The least important heads first, bool [step, layer, head].

    Importance is computed again before each step, in the model without the heads that are already
    gone; `first`, [layer, head], is that of the whole model.
    """
    gone, importance = np.zeros(first.shape, bool), first
    masks = []
    for count in job.progress(counts, len(counts), "importance, step by step"):
        if gone.any() and count < gone.size:
            importance = importance_of(model, tokens, labels, definition, gone)
        gone = effects.order_by_score(np.where(gone, -np.inf, importance), [count])[0]
        masks.append(gone)
    return np.stack(masks)


def by_ablation(
    task: Task, labels: np.ndarray, logits: np.ndarray, part: np.ndarray, counts: Sequence[int]
) -> np.ndarray:
    """First the head without which the score on `part` is highest, bool [step, layer, head].

    `logits` [layer, head, example, label] with one head disabled; `part` is bool [example].
    Among heads of equal score, the one with the lower mean loss goes first.
    """
    n_layers, n_heads, _, n_labels = logits.shape
    metric, right = metrics.METRICS[task.main_metric], labels[part]
    target = torch.from_numpy(np.asarray(right))
    swept = np.ascontiguousarray(logits[:, :, part]).reshape(n_layers * n_heads, -1, n_labels)
    scores = [metric(right, metrics.predictions_of(task, each)) for each in swept]
    losses = [example_losses(torch.from_numpy(each), target).mean().item() for each in swept]
    ranks = np.lexsort((losses, -np.array(scores))).argsort()
    return effects.order_by_score(ranks.reshape(n_layers, n_heads), counts)


def one_in_each_layer(scores: np.ndarray) -> np.ndarray:
    """All heads, then the highest score of each layer alone: bool [2, layer, head], true if gone.

    All others go at once, as with `--one-head` of Michel et al.'s released program.
    """
    gone = np.ones(scores.shape, bool)
    gone[np.arange(len(scores)), scores.argmax(axis=1)] = False
    return np.stack([np.zeros(scores.shape, bool), gone])


@dataclass(frozen=True)
class PruningOrder:
    """An order of pruning, bool [step, layer, head], and the examples scored in it (None: all)."""

    strategy: str
    draw: int
    masks: np.ndarray
    examples: np.ndarray | None = None


def curve(
    task: Task,
    labels: np.ndarray,
    logits: np.ndarray,
    counts: Sequence[int],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row per step and metric of `logits` [step, example, label]; `counts` heads are gone.

    `score` and `change`, which is the score minus that before pruning, have 95% intervals over
    `draws` samples of the `n` examples; `majority` is the score of always predicting the most
    frequent class.
    """
    weights = stats_bootstrap.observed_and_resampled(len(labels), draws, seed)
    predictions = np.stack([metrics.predictions_of(task, step_logits) for step_logits in logits])
    observed = [metrics.score(task, labels, step_logits) for step_logits in logits]
    base, frames = metrics.majority(task, labels), []
    for metric in task.metrics:
        scores = metrics.weighted_scores(metric, labels, predictions, weights)
        changes = scores - scores[:, :1]
        columns = {"step": range(len(logits)), "pruned": counts, "metric": metric}
        columns |= {"score": [of_step[metric] for of_step in observed], "majority": base[metric]}
        columns["change"] = changes[0]
        for name, values in (("score", scores), ("change", changes)):
            ends = np.percentile(values[1:], stats_bootstrap.CONFIDENCE, axis=0)
            columns[f"{name}_low"], columns[f"{name}_high"] = ends
        frames.append(pd.DataFrame(columns | {"n": len(labels)}))
    return pd.concat(frames).sort_values("step", kind="stable", ignore_index=True)


def read_sweep(path: Path, ids: Sequence[str], shape: tuple[int, int], n_labels: int) -> np.ndarray:
    """The swept logits with one head at 0, [layer, head, example, label], on the development set.

    Raises RuntimeError where the sweep holds other examples than `ids`.
    """
    frame = tables.read(path)
    chosen = (frame["split"] == "dev") & (frame["unit"] == "head") & (frame["mode"] == "zero")
    frame = frame[chosen].sort_values(["layer", "head"], kind="stable")
    if frame["id"].tolist()[: len(ids)] != list(ids) or len(frame) != len(ids) * np.prod(shape):
        raise RuntimeError(f"{path}: swept on other examples than those to be pruned on")
    columns = [f"logit_{label}" for label in range(n_labels)]
    return frame[columns].to_numpy().reshape(*shape, len(ids), n_labels)


def by_halves(
    task: Task, labels: np.ndarray, swept: np.ndarray, counts: Sequence[int], seed: int
) -> list[PruningOrder]:
    """Orders by one-head scores on each random half of the examples, to score the other half.

    So no example is scored by an order that it helped to choose.
    """
    half = stats_bootstrap.half_weights(len(labels), 1, seed)[0].astype(bool)
    masks = [by_ablation(task, labels, swept, part, counts) for part in (half, ~half)]
    scored = np.flatnonzero(~half), np.flatnonzero(half)
    return [PruningOrder("ablation", 0, *each) for each in zip(masks, scored, strict=True)]


def pruned_logits(
    model: PreTrainedModel, tokens: Sequence[Tokens], plans: Sequence[PruningOrder], **limits: Any
) -> dict[tuple[str, int], np.ndarray]:
    """For each strategy and draw the logits after every step, float32 [step, example, label].

    `limits` are pass_tokens and precision of the ablation engine.
    """
    logits: dict[tuple[str, int], np.ndarray] = {}
    # Orders on all examples are swept together: they share their first and last step at least.
    on_all = [plan for plan in plans if plan.examples is None]
    for group in filter(None, [on_all, *([plan] for plan in plans if plan.examples is not None)]):
        scored = np.arange(len(tokens)) if group is on_all else group[0].examples
        masks = np.concatenate([plan.masks for plan in group])
        swept = ablate(model, [tokens[index] for index in scored], masks, "zero", **limits)
        ends = np.cumsum([len(plan.masks) for plan in group])
        for plan, steps in zip(group, np.split(swept, ends[:-1]), strict=True):
            whole = np.empty((len(plan.masks), len(tokens), steps.shape[2]), np.float32)
            logits.setdefault((plan.strategy, plan.draw), whole)[:, scored] = steps
    return logits


def main(
    card: Path,
    table: Path,
    importance: job.Out,
    curves: job.Out,
    order: job.Out,
    task: str,
    seed: int,
    sample_seed: int,
    settings: dict[str, Any],
    dev_examples: int,
    max_tokens: int,
    limits: dict[str, Any],
    device: str = "auto",
    logits: Path | None = None,
) -> None:
    """Write importance, the score after every step of every strategy, and when each head goes.

    `settings` are a study's `pruning`: the `step` and `strategies`, of `importance` the variant and
    whether it is normalised and recomputed, the `draws` of random orders, the training `examples`
    behind importance (0: all), and `bootstrap`. Examples are sampled by `sample_seed`, the same for
    every fine-tuning `seed`, which is that of the random orders, the halves and the intervals.
    Importance comes from training examples, scores from development examples; one-head scores
    rank the heads on one half of these and are followed on the other; they come from the sweep's
    `logits`, which other strategies do not read. `limits` are pass_tokens and
    precision of the ablation engine.
    """
    strategies, draws, bootstrap = (settings[key] for key in ("strategies", "draws", "bootstrap"))
    model, sampler = classifier_and_sampler(card, table, max_tokens, sample_seed, device)
    scored_task = TASKS[task]
    tokens, rows = sampler.sample("dev", dev_examples)
    training, training_rows = sampler.sample("train", settings["examples"])
    labels, training_labels = rows["label"].to_numpy(), training_rows["label"].to_numpy()
    shape = (n_layers(model), n_heads(model))
    counts = effects.pruning_steps(shape[0] * shape[1], settings["step"])
    definition = Definition(**settings["importance"])
    lengths = [len(example) for example in training]
    values = gradients(model, training, training_labels)
    first, plans = ranking(values, lengths, definition), []
    if "importance" in strategies:
        masks = effects.order_by_score(first, counts)
        if definition.recompute:
            masks = by_importance(model, training, training_labels, counts, definition, first)
        plans.append(PruningOrder("importance", 0, masks))
    if "ablation" in strategies:
        swept = read_sweep(logits, rows["id"].tolist(), shape, scored_task.n_labels)
        plans += by_halves(scored_task, labels, swept, counts, seed)
    if "random" in strategies:
        at_random = effects.random_orders(shape, counts, draws, seed)
        plans += [PruningOrder("random", draw, masks) for draw, masks in enumerate(at_random)]
    if "one-head" in strategies:
        plans.append(PruningOrder("one-head", 0, one_in_each_layer(first)))
        rng = np.random.default_rng(seed)
        at_random = [one_in_each_layer(rng.random(shape)) for _ in range(draws)]
        plans += [PruningOrder("one-head-random", *each) for each in enumerate(at_random)]
    outputs = pruned_logits(model, tokens, plans, **limits)
    run_columns = {"task": task, "seed": seed}
    of_variant = scaled(values, lengths)
    frame = stats_bootstrap.per_head(
        of_variant, "variant", "importance", bootstrap, seed, stats_bootstrap.INDEPENDENT
    )
    unit_norm = [effects.normalised(each.mean(axis=0)).ravel() for each in of_variant.values()]
    frame = frame.assign(normalised=np.concatenate(unit_norm), **run_columns)
    tables.write(frame, importance)
    run_columns["heads"] = shape[0] * shape[1]
    gone_in = {(plan.strategy, plan.draw): plan.masks.sum(axis=(1, 2)).tolist() for plan in plans}
    scores = []
    for (strategy, draw), steps in outputs.items():
        line = curve(scored_task, labels, steps, gone_in[strategy, draw], bootstrap, seed)
        recomputed = strategy == "importance" and definition.recompute
        scores.append(line.assign(strategy=strategy, draw=draw, recomputed=recomputed))
    tables.write(pd.concat(scores, ignore_index=True).assign(**run_columns), curves)
    gone = [
        effects.order_of(plan.masks).assign(strategy=plan.strategy, draw=plan.draw, fold=fold)
        for fold, plan in enumerate(plans)
    ]
    tables.write(pd.concat(gone, ignore_index=True).assign(**run_columns), order)


if __name__ == "__main__":
    job.run(main, globals())
