"""Numbers that are not finite: no training goes on with them, and nothing of them is scored."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from workflow_scripts.core.errors import InputError

REMEDY = "lower the learning rate, and see whether the model, texts and labels are the right ones"


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether no number of the tensor is NaN or infinite."""
    # A sum is twenty times faster; one that overflows is looked at again.
    return bool(tensor.sum().isfinite() or tensor.isfinite().all())


def check_losses(losses: Sequence[float], done: int, name: str = "loss") -> None:
    """Raise InputError for the first of these losses, after step `done`, that is not finite."""
    for step, loss in enumerate(losses, done + 1):
        if not math.isfinite(loss):
            raise InputError(f"training: the {name} of step {step} is {loss}; {REMEDY}")


def check_weights(weights: Iterable[torch.Tensor], done: int) -> None:
    """Raise InputError where weights are not finite after the `done` first steps of a training."""
    if not all(is_finite(each.detach()) for each in weights):
        raise InputError(f"training: weights are not finite after step {done}; {REMEDY}")


def check_logits(logits: np.ndarray) -> np.ndarray:
    """The logits [example, label] as they are; raises InputError where one is not finite."""
    if n := int((~np.isfinite(logits)).any(axis=1).sum()):
        raise InputError(f"logits of {n} of {len(logits)} examples are not finite; {REMEDY}")
    return logits
