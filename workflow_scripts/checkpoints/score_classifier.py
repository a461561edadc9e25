"""A classifier's scores on every development split, before and after it was fine-tuned."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import TASKS, Task, split_of
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import (
    load_classifier,
    logits_of,
    new_classifier,
    tokens_of,
)
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, bootstrap_weights
from workflow_scripts.core.stats.metrics import majority, predictions_of, score, weighted_scores


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


def main(
    model: Path,
    card: Path,
    table: Path,
    metrics: job.Out,
    task: str,
    init: str,
    before: bool,
    seed: int,
    sample_seed: int,
    max_tokens: int,
    bootstrap: int,
    device: str = "auto",
) -> None:
    """Write the scores of the classifier that `card` describes; `model` is the card of its body.

    `seed` is that of the training, `sample_seed` that of the bootstrap samples. With `before` the
    untrained model is scored, too: from random weights it only guesses.
    """
    base, definition, where = read_card(model), TASKS[task], running.pick_device(device)
    directory, frame, scores = models.directory_of(base), tables.read(table), []
    tokenizer = models.load_tokenizer(directory)
    classifiers = {"fine-tuned": load_classifier(models.directory_of(read_card(card)), where)}
    if before:
        untrained = new_classifier(directory, definition, init, seed).to(where)
        classifiers = {"untrained": untrained} | classifiers
    splits = {name: split_of(frame, name) for name in frame["split"].unique() if name != "train"}
    lengths = max_tokens, base["max_positions"]
    tokens = {name: tokens_of(rows, tokenizer, *lengths) for name, rows in splits.items()}
    for stage, classifier in classifiers.items():
        for split, rows in splits.items():
            given = rows["label"].to_numpy(), logits_of(classifier, tokens[split])
            scores += score_rows(definition, stage, split, *given, bootstrap, sample_seed)
    about = {"task": definition.title, "init": init, "seed": seed}
    tables.write(pd.DataFrame(scores).assign(**about), metrics)


if __name__ == "__main__":
    job.run(main, globals())
