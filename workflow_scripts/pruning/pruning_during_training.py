"""Importance and pruning curves at every saved epoch of fine-tuning (Michel et al., section 6)."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.ablation_engine import ablate
from workflow_scripts.core.model.classifiers import classifier_and_sampler, load_classifier
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects
from workflow_scripts.pruning.importance import Definition, importance_of
from workflow_scripts.pruning.pruning_curves import curve


def main(
    card: Path,
    epochs: Path,
    table: Path,
    curves: job.Out,
    importance: job.Out,
    task: str,
    seed: int,
    sample_seed: int,
    settings: dict[str, Any],
    dev_examples: int,
    max_tokens: int,
    limits: dict[str, Any],
    device: str = "auto",
) -> None:
    """Write every epoch's pruning curve, and its importance next to that after the last epoch.

    `agreement` is Spearman's correlation of an epoch's importance with the last one's, over heads.
    Examples are sampled by `sample_seed`, the same for every fine-tuning `seed`. `settings` has the
    `step`, `importance`, `examples` and `bootstrap` of a study's pruning; `limits` are pass_tokens
    and precision of the ablation engine.
    """
    directory, scored_task = models.directory_of(read_card(card)), TASKS[task]
    sampler = classifier_and_sampler(card, table, max_tokens, sample_seed, device)[1]
    training, training_rows = sampler.sample("train", settings["examples"])
    tokens, rows = sampler.sample("dev", dev_examples)
    labels, training_labels = rows["label"].to_numpy(), training_rows["label"].to_numpy()
    definition = Definition(**settings["importance"])
    scores, by_epoch = [], {}
    kept = models.weights_by_epoch(epochs, directory, "add the task to finetune.every_epoch")
    for epoch, weights in enumerate(kept, start=1):
        model = load_classifier(weights, running.pick_device(device))
        by_epoch[epoch] = importance_of(model, training, training_labels, definition)
        counts = effects.pruning_steps(by_epoch[epoch].size, settings["step"])
        masks = effects.order_by_score(by_epoch[epoch], counts)
        logits = ablate(model, tokens, masks, "zero", **limits)
        line = curve(scored_task, labels, logits, counts, settings["bootstrap"], seed)
        scores.append(line.assign(epoch=epoch))
    run_columns = {"task": task, "seed": seed}
    heads = by_epoch[epoch].size
    tables.write(pd.concat(scores, ignore_index=True).assign(heads=heads, **run_columns), curves)
    agreement, frames = effects.agreements(by_epoch), []
    for epoch, values in by_epoch.items():
        n_layers, n_heads = values.shape
        frame = tables.tidy({"layer": range(n_layers), "head": range(n_heads)}, importance=values)
        frames.append(frame.assign(epoch=epoch, agreement=agreement[epoch]))
    tables.write(pd.concat(frames, ignore_index=True).assign(**run_columns), importance)


if __name__ == "__main__":
    job.run(main, globals())
