"""A classifier fine-tuned on one task from one initialisation and seed (Kovaleva et al., 4.3).

The same seed, data and threads give the same weights on a CPU, whether or not the run was killed
and resumed.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional
from transformers import PreTrainedModel
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.data.tasks import TASKS, Task, read_task, split_of
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import logits_of, new_classifier, tokens_of
from workflow_scripts.core.model.training import (
    WarmedUpRecipe,
    claim_state,
    decay_groups,
    train_resumably,
)
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, bootstrap_weights
from workflow_scripts.core.stats.metrics import majority, predictions_of, score, weighted_scores


@dataclass(frozen=True, kw_only=True)
class FineTuning(WarmedUpRecipe):
    """How a classifier is trained, by AdamW."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    weight_decay: float = 0.01


@dataclass(frozen=True)
class LabelledTokens:
    """Examples with their labels: int64 [example] of classes, float32 [example] of scores."""

    tokens: Sequence[Tokens]
    labels: torch.Tensor


def loss_of_logits(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy of [example, class], or mean squared error of a score [example, 1]."""
    if labels.is_floating_point():
        return functional.mse_loss(logits[:, 0].float(), labels)
    return functional.cross_entropy(logits.float(), labels)


def train(
    model: PreTrainedModel,
    training: LabelledTokens,
    dev: LabelledTokens,
    recipe: FineTuning,
    state: Path,
    epochs: Path | None = None,
) -> pd.DataFrame:
    """Train `model` in place, as `train_resumably`; the curve."""
    groups = decay_groups(model, recipe.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        inputs = running.pad([training.tokens[index] for index in indices], model)
        with running.autocast(model.device, recipe.precision), running.OneDNN():
            logits = model(**inputs).logits
        return loss_of_logits(logits, training.labels[indices].to(model.device))

    def dev_loss() -> float:
        return loss_of_logits(torch.from_numpy(logits_of(model, dev.tokens)), dev.labels).item()

    lengths = [len(example) for example in training.tokens]
    return train_resumably(model, lengths, optimizer, recipe, loss_of, dev_loss, state, epochs)


def score_rows(
    task: Task,
    stage: str,
    split: str,
    labels: np.ndarray,
    logits: np.ndarray,
    bootstrap: int,
    seed: int,
) -> list[dict[str, Any]]:
    """A row per metric of a development split: stage, split, metric, value, n, majority.

    `samples` lists the metric on `bootstrap` samples of the examples, which `seed` samples: the
    same for all models that are scored on the split. ci_low and ci_high are its 95% interval.
    """
    base, rows = majority(task, labels), []
    predictions = predictions_of(task, logits)[None]
    weights = bootstrap_weights(len(labels), bootstrap, seed)
    for metric, value in score(task, labels, logits).items():
        row = {"stage": stage, "split": split, "metric": metric, "value": value}
        row["samples"] = weighted_scores(metric, labels, predictions, weights)[:, 0]
        row["ci_low"], row["ci_high"] = np.percentile(row["samples"], CONFIDENCE)
        rows.append(row | {"n": len(labels), "majority": base[metric]})
    return rows


def write_checkpoint(
    classifier: PreTrainedModel,
    tokenizer: FastTokenizer,
    base: dict[str, Any],
    checkpoint: Path,
    card: Path,
) -> None:
    """Write a classifier to the output `checkpoint`, and its card; `base` is its body's card."""
    models.save(classifier, tokenizer, checkpoint)
    name = job.final(checkpoint).name
    own = {"name": f"{base['name']}.{name}", "source": {"trained": name}}
    write_card(base | own | {"weights": models.weights_digest(checkpoint)}, card)


def main(
    model: Path,
    table: Path,
    checkpoint: job.Out,
    epochs: job.Out,
    card: job.Out,
    metrics: job.Out,
    curve: job.Out,
    task: str,
    init: str,
    max_tokens: int,
    recipe: dict[str, Any],
    bootstrap: int,
    seed: int,
    every_epoch: bool = False,
    device: str = "auto",
) -> None:
    """Write checkpoint, card, metrics and curve; a killed run resumes from <checkpoint>.work.

    `recipe` has the seed of the training, `seed` is that of the bootstrap samples.

    With `every_epoch`, `epochs` gets the weights after each epoch but the last, in epoch-<k>.
    The untrained model is scored where its body is pretrained: from random weights it only guesses.
    """
    base, definition, fine_tuning = read_card(model), TASKS[task], FineTuning(**recipe)
    directory = models.directory_of(base)
    tokenizer = models.load_tokenizer(directory)
    frame = read_task(table)
    if split_of(frame, "train").empty:
        raise InputError(f"{task}: no training file; put one next to that of dev")
    splits: dict[str, tuple[list[Tokens], np.ndarray]] = {}
    for split in frame["split"].unique():
        rows = split_of(frame, split)
        tokens = tokens_of(rows, tokenizer, max_tokens, base["max_positions"])
        splits[split] = tokens, rows["label"].to_numpy()
    classifier = new_classifier(directory, definition, init, fine_tuning.seed)
    classifier.to(running.pick_device(device))
    kind = np.int64 if definition.labels else np.float32
    training, dev = (
        LabelledTokens(tokens, torch.from_numpy(labels.astype(kind)))
        for tokens, labels in (splits.pop("train"), splits["dev"])
    )
    scores = []
    if init == "pretrained":
        for split, (tokens, labels) in splits.items():
            logits = logits_of(classifier, tokens)
            scores += score_rows(definition, "untrained", split, labels, logits, bootstrap, seed)
    identity = {
        "weights": base["weights"],
        "table": hashlib.sha256(table.read_bytes()).hexdigest(),
        "task": asdict(definition),
        "init": init,
        "max_tokens": max_tokens,
        "every_epoch": every_epoch,
        "recipe": asdict(fine_tuning),
    }
    final = job.final(checkpoint)
    work = final.with_name(f"{final.name}.work")
    state = claim_state(work, Path(__file__), classifier.device, identity)
    losses = train(classifier, training, dev, fine_tuning, state, work if every_epoch else None)
    for split, (tokens, labels) in splits.items():
        logits = logits_of(classifier, tokens)
        scores += score_rows(definition, "fine-tuned", split, labels, logits, bootstrap, seed)
    write_checkpoint(classifier, tokenizer, base, checkpoint, card)
    epochs.mkdir()
    for epoch in work.glob("epoch-*"):
        shutil.copytree(epoch, epochs / epoch.name)
    about = {"model": base["name"], "task": definition.title, "init": init}
    about["seed"] = fine_tuning.seed
    tables.write(pd.DataFrame(scores).assign(**about), metrics)
    tables.write_csv(losses.assign(**about), curve)
    shutil.rmtree(work)


if __name__ == "__main__":
    job.run(main, globals())
