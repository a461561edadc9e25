"""A classifier fine-tuned on one task from one initialisation and seed (Kovaleva et al., 4.3)."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers

from workflow_scripts.checkpoints.classifier_training import (
    FineTuning,
    LabelledTokens,
    RunDirectory,
    train,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.data.tasks import TASKS, Task, read_task, split_of
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import logits_of, new_classifier, tokens_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, bootstrap_weights
from workflow_scripts.core.stats.metrics import majority, predictions_of, score, weighted_scores

Splits = dict[str, tuple[list[Tokens], np.ndarray]]


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

    ci_low and ci_high are the ends of its 95% interval over `bootstrap` samples of the examples,
    which `seed` samples: the same for all models that are scored on the split.
    """
    base, rows = majority(task, labels), []
    predictions = predictions_of(task, logits)[None]
    weights = bootstrap_weights(len(labels), bootstrap, seed)
    for metric, value in score(task, labels, logits).items():
        row = {"stage": stage, "split": split, "metric": metric, "value": value}
        resampled = weighted_scores(metric, labels, predictions, weights)
        row["ci_low"], row["ci_high"] = np.percentile(resampled, CONFIDENCE)
        rows.append(row | {"n": len(labels), "majority": base[metric]})
    return rows


def main(
    model: Path,
    table: Path,
    checkpoint: Out,
    epochs: Out,
    card: Out,
    metrics: Out,
    curve: Out,
    task: str,
    init: str,
    max_tokens: int,
    recipe: dict[str, Any],
    bootstrap: int,
    seed: int,
    every_epoch: bool = False,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write checkpoint, card, metrics and curve; a killed run resumes from <checkpoint>.work.

    `recipe` has the seed of the training, `seed` is that of the bootstrap samples.

    With `every_epoch`, `epochs` gets the weights after each epoch but the last, in epoch-<k>.
    The untrained model is scored where its body is pretrained: from random weights it only guesses.
    """
    transformers.utils.logging.set_verbosity_error()  # the new head's missing weights are expected
    base, definition, fine_tuning = read_card(model), TASKS[task], FineTuning(**recipe)
    directory = models.directory_of(base)
    tokenizer = models.load_tokenizer(directory)
    frame = read_task(table)
    splits: Splits = {}
    for split in frame["split"].unique():
        rows = split_of(frame, split)
        tokens = tokens_of(rows, tokenizer, max_tokens, base["max_positions"])
        splits[split] = tokens, rows["label"].to_numpy()
    classifier = new_classifier(directory, definition, init, fine_tuning.seed)
    classifier.to(running.pick_device(device))
    training, dev = (_labelled(*splits[split], definition) for split in ("train", "dev"))
    del splits["train"]
    scores = []
    if init == "pretrained":
        for split, (tokens, labels) in splits.items():
            logits = logits_of(classifier, tokens)
            scores += score_rows(definition, "untrained", split, labels, logits, bootstrap, seed)
    identity = {
        "weights": base["weights"],
        "table": hashlib.sha256(table.read_bytes()).hexdigest(),
        "task": task,
        "init": init,
        "max_tokens": max_tokens,
        "every_epoch": every_epoch,
        "versions": base["versions"],
    }
    final = job.final(checkpoint)
    work = final.with_name(f"{final.name}.work")
    run = RunDirectory(work, identity, every_epoch)
    losses, dev_logits = train(classifier, training, dev, fine_tuning, run)
    for split, (tokens, labels) in splits.items():
        logits = dev_logits if split == "dev" else logits_of(classifier, tokens)
        scores += score_rows(definition, "fine-tuned", split, labels, logits, bootstrap, seed)
    models.save(classifier, tokenizer, checkpoint)
    epochs.mkdir()
    for epoch in sorted(work.glob("epoch-*")):
        shutil.copytree(epoch, epochs / epoch.name)
    own = {"name": f"{base['name']}.{task}.{init}.{fine_tuning.seed}"}
    own |= {"source": {"trained": final.name}, "weights": models.weights_digest(checkpoint)}
    write_card(base | own, card)
    about = {"model": base["name"], "task": definition.title, "init": init}
    about["seed"] = fine_tuning.seed
    tables.write_csv(pd.DataFrame(scores).assign(**about), metrics)
    tables.write_csv(losses.assign(**about), curve)
    shutil.rmtree(work)


def _labelled(tokens: list[Tokens], labels: np.ndarray, task: Task) -> LabelledTokens:
    kind = np.int64 if task.labels else np.float32
    return LabelledTokens(tokens, torch.from_numpy(labels.astype(kind)))


if __name__ == "__main__":
    job.run(main, globals())
