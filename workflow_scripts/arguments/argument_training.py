"""Training of a model that scores each warrant, and its logits: the same for all families."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.run import job

Texts = tuple[tuple[str, ...], str]  # the argument's texts, and a warrant
LONGEST_BATCH = 4096  # tokens in a batch that is only scored


@dataclass(frozen=True)
class Family:
    """A family of models: how texts are encoded, models made and batches scored.

    `point` is one point of the family's grid, `encode` and `length` work on single texts.
    """

    name: str
    encode: Callable[[Texts], Any]
    length: Callable[[Any], int]
    new: Callable[[str, dict[str, Any], int], nn.Module]  # of set-up, point and seed
    score: Callable[[nn.Module, Sequence[Any]], torch.Tensor]  # [text]
    save: Callable[[nn.Module, Path], None]  # to a directory
    load: Callable[[Path, str, torch.device], nn.Module]  # of the set-up
    weight_decay: float = 0.0
    warmup: float = 0.0  # share of the steps


@dataclass(frozen=True)
class Labelled:
    """Encoded texts, both warrants of a point after one another, and the points' labels."""

    texts: list[Any]
    labels: np.ndarray  # int [point]


def fit(
    family: Family,
    setup: str,
    point: dict[str, Any],
    seed: int,
    training: Labelled,
    dev: Labelled,
    epochs: int,
    batch_size: int,
    device: torch.device,
) -> tuple[nn.Module, list[dict[str, Any]]]:
    """The model of the epoch with the best development accuracy (the first of equals).

    The loss is the cross entropy of a softmax over the two warrants' logits. Returns a row per
    epoch too: epoch, loss, dev_accuracy, best.
    """
    model = family.new(setup, point, seed).to(device)
    torch.manual_seed(seed)  # dropout and order do not depend on how the model was made
    order = torch.Generator().manual_seed(seed)
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=point["learning_rate"], weight_decay=family.weight_decay, fused=True
    )
    steps = epochs * math.ceil(len(training.labels) / batch_size)
    rise = max(1, round(family.warmup * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise + 1), 1)
    )
    best, rows = None, []
    for epoch in job.progress(range(1, epochs + 1), epochs, f"{family.name}, {setup}, {point}"):
        model.train()
        losses = []
        for chosen in _order(len(training.labels), batch_size, order):
            scores = family.score(model, [training.texts[k] for k in _both(chosen)])
            labels = torch.from_numpy(training.labels[chosen]).to(device)
            loss = functional.cross_entropy(scores.view(-1, 2), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        accuracy = accuracy_of(logits_of(family, model, dev.texts), dev.labels)
        rows.append({"epoch": epoch, "loss": float(np.mean(losses)), "dev_accuracy": accuracy})
        if best is None or accuracy > rows[best - 1]["dev_accuracy"]:
            best, state = epoch, copy.deepcopy(model.state_dict())
    model.load_state_dict(state)
    return model.eval(), [row | {"best": row["epoch"] == best} for row in rows]


def _order(n: int, size: int, order: torch.Generator) -> Iterator[np.ndarray]:
    for chosen in torch.randperm(n, generator=order).split(size):
        yield chosen.numpy()


def _both(points: np.ndarray) -> np.ndarray:
    """The numbers of both texts of each point."""
    return np.stack([2 * points, 2 * points + 1], axis=1).ravel()


def logits_of(family: Family, model: nn.Module, texts: Sequence[Any]) -> np.ndarray:
    """Logits of both warrants, float32 [point, 2], in batches of neighbouring lengths."""
    outputs = np.empty(len(texts), dtype=np.float32)
    training = model.training
    model.eval()
    for batch in by_length([family.length(one) for one in texts], LONGEST_BATCH):
        with torch.inference_mode():
            scores = family.score(model, [texts[k] for k in batch])
        outputs[batch] = scores.float().cpu().numpy()
    model.train(training)
    return outputs.reshape(-1, 2)


def accuracy_of(logits: np.ndarray, labels: np.ndarray) -> float:
    """Share of points whose right warrant has the larger logit; a tie counts as warrant 0."""
    return float((logits.argmax(axis=1) == labels).mean())
