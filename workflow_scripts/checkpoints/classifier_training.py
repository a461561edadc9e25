"""Training a classifier so that a killed run resumes after its last whole epoch.

A working directory belongs to this run alone. The same seed, data and threads give the same
weights on a CPU, whether or not the run was killed and resumed.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model import training as model_training
from workflow_scripts.core.model.classifiers import logits_of
from workflow_scripts.core.model.running import OneDNN
from workflow_scripts.core.model.training import (
    LengthGroupedIndices,
    Recipe,
    curve_of,
    decay_groups,
    linear_schedule,
    train_epoch,
    whole_epochs,
)
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class FineTuning(Recipe):
    """How a classifier is trained: AdamW, a linear warm-up, then linear decay to 0."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.01
    precision: str = "float32"


@dataclass(frozen=True)
class RunDirectory:
    """A run's working directory, and what distinguishes it from other runs.

    A directory that a run with another `identity` left is emptied. With `every_epoch` the weights
    after each epoch but the last are kept in work/epoch-<k>.
    """

    work: Path
    identity: dict[str, Any]
    every_epoch: bool = False


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
    run: RunDirectory,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Train `model` in place.

    Returns the curve (step, epoch, split train or dev, loss), with four rows of training loss an
    epoch, and the logits [example, label] of the development set after the last epoch.
    """
    threads = torch.get_num_threads()
    identity = run.identity | {"recipe": asdict(recipe), "threads": threads}
    state = model_training.claim_state(run.work, identity)
    torch.manual_seed(recipe.seed)  # dropout does not depend on how the model was made
    lengths = [len(example) for example in training.tokens]
    batches = LengthGroupedIndices(lengths, recipe.batch_size, recipe.seed)
    groups = decay_groups(model, recipe.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)
    steps = recipe.epochs * len(batches)
    schedule = linear_schedule(optimizer, steps, math.ceil(recipe.warmup * steps))
    parts = model_training.Parts(model, schedule, batches.generator)

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        inputs = running.pad([training.tokens[index] for index in indices], model)
        with running.autocast(model.device, recipe.precision), OneDNN():
            logits = model(**inputs).logits
        return loss_of_logits(logits, training.labels[indices].to(model.device))

    curve = []
    if state.is_file():
        curve = model_training.resume_state(state, parts)["curve"]
        log.info("training resumes after %d whole epochs", whole_epochs(curve))
    logits = None
    model.train()
    for number in range(whole_epochs(curve) + 1, recipe.epochs + 1):
        shown = job.progress(batches, desc=f"epoch {number} of {recipe.epochs}, batches")
        losses = train_epoch(shown, loss_of, schedule, max_norm=1.0)
        logits = logits_of(model, dev.tokens)
        dev_loss = loss_of_logits(torch.from_numpy(logits), dev.labels).item()
        curve += curve_of(number, losses, dev_loss)
        if run.every_epoch and number < recipe.epochs:
            model.save_pretrained(run.work / f"epoch-{number}")
        model_training.save_state(state, parts, {"curve": curve})
    if logits is None:
        logits = logits_of(model, dev.tokens)
    return pd.DataFrame(curve), logits
