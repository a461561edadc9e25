"""Training of a model that scores each warrant, and its logits: the same for all families."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from workflow_scripts.core.model import running
from workflow_scripts.core.model.running import OneDNN, by_length
from workflow_scripts.core.model.training import (
    ShuffledIndices,
    linear_schedule,
    train,
)

Texts = tuple[tuple[str, ...], str]  # the argument's texts, and a warrant
Hyperparameters = dict[str, float]  # one point of a grid
BATCH_TOKENS = 4096  # maximum number of tokens in a batch that is only scored


@dataclass(frozen=True)
class Family:
    """A family of models: how texts are encoded, models made and batches scored."""

    name: str
    encode: Callable[[Texts], Any]  # of a single text, as `length`
    length: Callable[[Any], int]
    new: Callable[[str, Hyperparameters, int], nn.Module]  # of set-up, hyperparameters and seed
    score: Callable[[nn.Module, Sequence[Any]], torch.Tensor]  # [text]
    save: Callable[[nn.Module, Path], None]  # to a directory
    load: Callable[[Path, str, torch.device], nn.Module]  # of the set-up
    weight_decay: float = 0.0
    warmup: float = 0.0  # share of the steps


@dataclass(frozen=True)
class LabelledPoints:
    """Encoded texts, both warrants of a point after one another, and the points' labels."""

    texts: list[Any]
    labels: np.ndarray  # int [point]


@dataclass(frozen=True)
class RunPlan:
    """Training runs: every set-up, on one training set, with one seed."""

    setups: Sequence[str]
    trained_on: str
    settings: dict[str, Any]  # of the family: grid, search, epochs, batch_size, decay, anneal
    seed: int
    device: torch.device


def fit(
    family: Family,
    plan: RunPlan,
    setup: str,
    chosen: Hyperparameters,
    training: LabelledPoints,
    dev: LabelledPoints,
) -> tuple[nn.Module, list[dict[str, Any]]]:
    """The model of the epoch with the best development accuracy (the first such).

    `chosen`, a point of the grid, may have epochs and a batch size of its own. The loss is the
    cross entropy of both warrants' logits. Returns a row per epoch too; its `rate` is the last.
    """
    settings = plan.settings | chosen
    model = family.new(setup, chosen, plan.seed).to(plan.device)
    torch.manual_seed(plan.seed)  # dropout and order do not depend on how the model was made
    optimizer = torch.optim.AdamW(
        [weights for weights in model.parameters() if weights.requires_grad],
        lr=chosen["learning_rate"],
        weight_decay=family.weight_decay,
        fused=True,
    )
    batches = ShuffledIndices(len(training.labels), settings["batch_size"], plan.seed)
    steps = settings["epochs"] * len(batches)
    warmup_steps = max(1, round(family.warmup * steps))
    schedule = LambdaLR(optimizer, lambda step: 1.0)
    if settings["decay"]:  # linearly to 0
        schedule = linear_schedule(optimizer, steps, warmup_steps)
    annealer, rates = Annealer(schedule, **settings["anneal"]), []

    def loss_of(points: torch.Tensor) -> torch.Tensor:
        chosen = points.numpy()
        both = np.stack([2 * chosen, 2 * chosen + 1], axis=1).ravel()
        with OneDNN():
            scores = family.score(model, [training.texts[k] for k in both])
        labels = torch.from_numpy(training.labels[chosen]).to(plan.device)
        rates.append(optimizer.param_groups[0]["lr"])
        return functional.cross_entropy(scores.view(-1, 2), labels)

    def dev_score() -> float:
        accuracy = accuracy_of(logits_of(family, model, dev.texts), dev.labels)
        annealer.step(accuracy)
        return accuracy

    history = train(
        model.train(),
        batches,
        loss_of,
        settings["epochs"],
        schedule,
        max_norm=1.0,
        dev_score=dev_score,
        desc=f"{family.name}, {setup}, {chosen}",
    )
    rows = [
        {"epoch": epoch.number, "loss": epoch.loss, "dev_accuracy": epoch.dev_score}
        | {"rate": rates[epoch.number * len(batches) - 1], "best": epoch.best}
        for epoch in history
    ]
    return model.eval(), rows


def logits_of(family: Family, model: nn.Module, texts: Sequence[Any]) -> np.ndarray:
    """Logits of both warrants, float32 [point, 2]; InputError where one is not finite."""
    outputs = np.empty(len(texts), dtype=np.float32)
    training = model.training
    model.eval()
    for batch in by_length([family.length(text) for text in texts], BATCH_TOKENS):
        with torch.inference_mode(), OneDNN():
            scores = family.score(model, [texts[k] for k in batch])
        outputs[batch] = scores.float().cpu().numpy()
    model.train(training)
    return running.check_logits(outputs.reshape(-1, 2))


def accuracy_of(logits: np.ndarray, labels: np.ndarray) -> float:
    """Share of points whose right warrant has the larger logit; a tie counts as warrant 0."""
    return float((logits.argmax(axis=1) == labels).mean())


class Annealer:
    """Multiplies learning rates by `factor` after over `patience` epochs without a new best.

    PyTorch's ReduceLROnPlateau does the same, but a LambdaLR undoes its changes.
    """

    def __init__(self, schedule: LambdaLR, factor: float, patience: int) -> None:
        self.schedule, self.factor, self.patience = schedule, factor, patience
        self.best, self.without_best = -math.inf, 0

    def step(self, accuracy: float) -> None:
        """Take note of an epoch's accuracy, and lower the learning rates where it is due."""
        if accuracy > self.best:
            self.best, self.without_best = accuracy, 0
            return
        self.without_best += 1
        if self.without_best > self.patience:
            self.without_best = 0
            self.schedule.base_lrs = [rate * self.factor for rate in self.schedule.base_lrs]
            for group in self.schedule.optimizer.param_groups:  # until the schedule's next step
                group["lr"] *= self.factor
