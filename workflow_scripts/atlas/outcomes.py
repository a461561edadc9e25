"""The gold label of a task's example, and what a classifier predicts, in words."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.glue import TASKS, read_task
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.classifiers import classifier_of, logits_of

Label = str | float
Prediction = dict[str, Label | None]
# Where the files have numbers, or identifiers, for classes.
NAMES = {
    "sst2": ("negative", "positive"),
    "cola": ("unacceptable", "acceptable"),
    "mrpc": ("not a paraphrase", "paraphrase"),
    "qqp": ("not a duplicate", "duplicate"),
    "rte": ("entailment", "not entailment"),
    "qnli": ("entailment", "not entailment"),
}
DECIMALS = 4


def gold_labels(task: str, table: Path) -> dict[str, Label]:
    """The label of each example of a task, by its id: the name of its class, or a score."""
    frame = read_task(table)
    pairs = zip(frame["id"], frame["label"], strict=True)
    return {identity: _named(task, label) for identity, label in pairs}


def tokens_of(example: CachedExample) -> Tokens:
    """A cached example as a model reads it."""
    n_words = int(example.word.max(initial=-1)) + 1
    return Tokens(example.id, example.ids, example.word, example.segment, n_words)


def predictions(
    task: str, card: Path, examples: Iterable[CachedExample], device: torch.device
) -> list[Prediction]:
    """What the classifier of a card predicts for each example."""
    model, _ = classifier_of(card, device)
    logits = logits_of(model, [tokens_of(example) for example in examples])
    return [_prediction(task, outputs) for outputs in logits.astype(np.float64)]


def _prediction(task: str, logits: np.ndarray) -> Prediction:
    """The class of the largest output with its softmax probability, or a score without one."""
    if not TASKS[task].labels:
        return {"label": round(float(logits[0]), DECIMALS), "probability": None}
    shares = np.exp(logits - logits.max())
    best = int(logits.argmax())
    probability = float(shares[best] / shares.sum())
    return {"label": _named(task, best), "probability": round(probability, DECIMALS)}


def _named(task: str, label: float) -> Label:
    names = NAMES.get(task, TASKS[task].labels)
    return names[int(label)] if names else round(float(label), DECIMALS)
