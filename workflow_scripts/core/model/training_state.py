"""The whole state of a training run after an epoch, from which it goes on to the same weights.

The state is one safetensors file: weights, the optimizer's moments and the random streams, and in
its metadata as JSON the optimizer's and the schedule's settings and what the caller notes. It
stands in a working directory that belongs to the run alone.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch.optim.lr_scheduler import LRScheduler

from workflow_scripts.core.run import job

STATE = "state.safetensors"
IDENTITY = "run.json"


@dataclass(frozen=True)
class Parts:
    """Everything that a step of training reads and changes; `order` samples the batches."""

    model: torch.nn.Module
    schedule: LRScheduler
    order: torch.Generator


def claim(work: Path, identity: dict[str, Any]) -> Path:
    """Reserve `work` for the run that `identity` describes; the path of its state there.

    What another run left is removed.
    """
    text = json.dumps(identity, sort_keys=True, indent=2)
    path = work / IDENTITY
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        partial = path.with_suffix(job.PARTIAL)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    return work / STATE


def save(path: Path, parts: Parts, notes: dict[str, Any]) -> None:
    """Write the state in place of the one at `path`, which is whole at any time."""
    optimizer = parts.schedule.optimizer.state_dict()
    tensors = {f"model/{name}": value for name, value in _weights(parts.model).items()}
    for number, moments in optimizer["state"].items():
        tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
    tensors |= {f"random/{name}": read() for name, (read, _) in _streams(parts).items()}
    settings = {
        "groups": optimizer["param_groups"],
        "schedule": parts.schedule.state_dict(),
        "notes": notes,
    }
    partial = path.with_name(path.name + job.PARTIAL)
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    save_file(contiguous, partial, metadata={"settings": json.dumps(settings)})
    os.replace(partial, path)


def resume(path: Path, parts: Parts) -> dict[str, Any]:
    """Put the state at `path` into the parts; the notes it was saved with."""
    with safe_open(path, "pt") as file, torch.no_grad():
        settings = json.loads(file.metadata()["settings"])
        for name, value in _weights(parts.model).items():
            value.copy_(file.get_tensor(f"model/{name}"))
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for key in file.keys():  # noqa: SIM118 - not a mapping
            kind, *rest = key.split("/")
            if kind == "optimizer":
                moments.setdefault(int(rest[0]), {})[rest[1]] = file.get_tensor(key)
        for name, (_, write) in _streams(parts).items():
            write(file.get_tensor(f"random/{name}"))
    state = {"state": moments, "param_groups": settings["groups"]}
    parts.schedule.optimizer.load_state_dict(state)
    parts.schedule.load_state_dict(settings["schedule"])
    return settings["notes"]


def _weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers, shared ones once."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


Stream = tuple[Callable[[], torch.Tensor], Callable[[torch.Tensor], None]]


def _streams(parts: Parts) -> dict[str, Stream]:
    """How each random stream's state is read and written."""
    streams: dict[str, Stream] = {
        "order": (parts.order.get_state, parts.order.set_state),
        "cpu": (torch.get_rng_state, torch.set_rng_state),
    }
    if torch.cuda.is_available():
        streams["cuda"] = (torch.cuda.get_rng_state, torch.cuda.set_rng_state)
    return streams
