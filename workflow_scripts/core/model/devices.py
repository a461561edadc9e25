"""The choice of device and precision, made here alone."""

from contextlib import AbstractContextManager, nullcontext

import torch

from workflow_scripts.core.errors import InputError


def pick(device: str = "auto") -> torch.device:
    """The device that a study names; `auto` takes a GPU where there is one.

    Raises InputError for a GPU that torch does not see.
    """
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device: cuda: torch sees no GPU; set device to auto or cpu")
    if device == "mps" and not torch.backends.mps.is_available():
        raise InputError("device: mps: torch sees no Apple GPU; set device to auto or cpu")
    return torch.device(device)


def autocast(device: torch.device, precision: str) -> AbstractContextManager:
    """Forward passes within run in `precision`: float32 or bfloat16."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)
