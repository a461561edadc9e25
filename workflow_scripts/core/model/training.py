"""The loop that trains every model of a study, and the state from which a killed one goes on.

The order of batches has a random stream of its own: a seed gives the same weights on a CPU.
"""

import copy
import json
import logging
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from workflow_scripts.core.integrity import code_digest, digests
from workflow_scripts.core.model import models, running
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)
Batch = TypeVar("Batch")
Stream = tuple[Callable[[], torch.Tensor], Callable[[torch.Tensor], None]]  # of random numbers
STATE, IDENTITY = "state.safetensors", "run.json"
APART = 32  # steps on a GPU after which losses are read: reading one waits for all that is queued


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained; `seed` orders the batches and all else that is random."""

    seed: int
    epochs: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True, kw_only=True)
class WarmedUpRecipe(Recipe):
    """The learning rate rises linearly over a share `warmup` of the steps, then falls to 0."""

    warmup: float = 0.1
    precision: str = "float32"


@dataclass(frozen=True)
class Epoch:
    """One pass over the training data, counted from 1."""

    number: int
    loss: float  # mean over batches
    dev_score: float  # NaN where nothing was scored
    best: bool  # its weights were kept


class ShuffledIndices:
    """Indices of `n` examples, int64 [at most `size`] each, shuffled again on each iteration."""

    def __init__(self, n: int, size: int, seed: int) -> None:
        self.n, self.size = n, size
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return math.ceil(self.n / self.size)

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(torch.randperm(self.n, generator=self.generator).split(self.size))


class LengthGroupedIndices(ShuffledIndices):
    """Shuffled indices, in shuffled batches of similar lengths, so that padding is rare.

    As in transformers' LengthGroupedSampler, examples are sorted by length within windows of the
    shuffled order, of `WINDOW` batches or, where there are few, 1/SHARE of the examples.
    """

    WINDOW = 50
    SHARE = 16  # a quarter cost generated STS-B, whose templates have lengths, 0.2 of correlation

    def __init__(self, lengths: Sequence[int], size: int, seed: int) -> None:
        super().__init__(len(lengths), size, seed)
        self.lengths = torch.as_tensor(lengths)
        self.window = size * max(1, min(self.WINDOW, len(lengths) // (self.SHARE * size)))

    def __iter__(self) -> Iterator[torch.Tensor]:
        order = torch.randperm(self.n, generator=self.generator)
        windows = [
            window[self.lengths[window].argsort(stable=True)] for window in order.split(self.window)
        ]
        batches = torch.cat(windows).split(self.size)
        shuffled = torch.randperm(len(batches), generator=self.generator)
        return (batches[number] for number in shuffled.tolist())


class ShuffledBatches(Generic[Batch]):
    """Batches whose examples are fixed, shuffled again on each iteration."""

    def __init__(self, batches: Sequence[Batch], seed: int) -> None:
        self.batches, self.rng = batches, np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        return (self.batches[index] for index in self.rng.permutation(len(self.batches)))


def decay_groups(model: torch.nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The parameters for an optimizer: biases and norms do not decay, as in the Trainer."""
    norms = {
        id(weights)
        for module in model.modules()
        if "norm" in type(module).__name__.lower()
        for weights in module.parameters(recurse=False)
    }
    groups = {True: [], False: []}
    for name, weights in model.named_parameters():
        if weights.requires_grad:
            groups["bias" not in name and id(weights) not in norms].append(weights)
    return [
        {"params": groups[True], "weight_decay": weight_decay},
        {"params": groups[False], "weight_decay": 0.0},
    ]


def linear_schedule(
    optimizer: torch.optim.Optimizer, total_steps: int, warmup_steps: int = 0
) -> LambdaLR:
    """The learning rate rises linearly over `warmup_steps`, then decays linearly towards 0."""

    def factor(step: int) -> float:
        if not warmup_steps:
            return 1 - step / total_steps
        rise = (step + 1) / warmup_steps  # where transformers' starts with a step of 0
        decay = (total_steps - step) / max(1, total_steps - warmup_steps + 1)
        return min(rise, decay, 1)

    return LambdaLR(optimizer, factor)


def train(
    model: torch.nn.Module,
    batches: ShuffledIndices | ShuffledBatches[Batch],
    loss_of: Callable[[Batch], torch.Tensor],
    epochs: int,
    schedule: LRScheduler,
    *,
    max_norm: float | None = None,
    dev_score: Callable[[], float] | None = None,
    desc: str = "",
) -> list[Epoch]:
    """Train `model` in place, with a step of the schedule and of its optimizer for each batch.

    With `dev_score`, called after each epoch, the model ends with the weights of the epoch that has
    the highest score (the first of equals), otherwise with those of the last. The caller sets train
    or eval mode, and `dev_score` must restore it.
    """
    history: list[tuple[float, float]] = []
    best, state = epochs, None
    numbers = range(1, epochs + 1)
    for number in job.progress(numbers, desc=desc) if desc else numbers:
        loss = float(np.mean(train_epoch(batches, loss_of, schedule, max_norm)))
        score = math.nan if dev_score is None else dev_score()
        history.append((loss, score))
        if dev_score is not None and (state is None or score > history[best - 1][1]):
            best, state = number, copy.deepcopy(model.state_dict())
    if state is not None:
        model.load_state_dict(state)
    return [
        Epoch(number, loss, score, number == best)
        for number, (loss, score) in enumerate(history, 1)
    ]


def train_epoch(
    batches: ShuffledIndices | ShuffledBatches[Batch],
    loss_of: Callable[[Batch], torch.Tensor],
    schedule: LRScheduler,
    max_norm: float | None = None,
) -> list[float]:
    """One pass over the batches; their losses. Raises InputError for what is not finite."""
    optimizer = schedule.optimizer
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    before = schedule.last_epoch  # the steps of earlier epochs
    losses = []
    for batch in batches:
        loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()
        if max_norm is not None:
            torch.nn.utils.clip_grad_norm_(trained, max_norm)
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
        apart = 1 if loss.is_cpu else APART
        if len(losses) % apart == 0:
            read = torch.stack(losses[-apart:]).tolist()
            running.check_losses(read, before + len(losses) - apart)
    read = torch.stack(losses).tolist()
    running.check_losses(read, before)
    running.check_weights(trained, before + len(losses))
    return read


def train_resumably(
    model: torch.nn.Module,
    lengths: Sequence[int],
    optimizer: torch.optim.Optimizer,
    recipe: WarmedUpRecipe,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
    dev_loss: Callable[[], float] | None,
    state: Path,
    epochs: Path | None = None,
) -> pd.DataFrame:
    """Train `model` in place on examples of these `lengths`; a killed run goes on from `state`.

    Returns the curve (step, epoch, split train or dev, loss); without `dev_loss` it has no dev.
    `loss_of` is that of a batch of indices. The last weights are kept; with `epochs`, those of
    earlier ones are saved in epoch-<k>.
    """
    torch.manual_seed(recipe.seed)  # dropout does not depend on how the model was made
    batches = LengthGroupedIndices(lengths, recipe.batch_size, recipe.seed)
    steps = recipe.epochs * len(batches)
    schedule = linear_schedule(optimizer, steps, math.ceil(recipe.warmup * steps))
    parts, curve = Parts(model, schedule, batches.generator), []
    if state.is_file():
        curve = resume_state(state, parts)
        log.info("training resumes after %d whole epochs", whole_epochs(curve))
    model.train()
    for number in range(whole_epochs(curve) + 1, recipe.epochs + 1):
        shown = job.progress(batches, desc=f"epoch {number} of {recipe.epochs}, batches")
        losses = train_epoch(shown, loss_of, schedule, max_norm=1.0)
        curve += curve_of(number, losses, dev_loss and dev_loss())
        if epochs is not None and number < recipe.epochs:
            model.save_pretrained(epochs / f"epoch-{number}")
        save_state(state, parts, curve)
    model.eval()
    return pd.DataFrame(curve)


def curve_of(number: int, losses: Sequence[float], dev_loss: float | None) -> list[dict[str, Any]]:
    """The curve's rows of an epoch, counted from 1: the mean loss of each quarter of its steps."""
    rows, n, done = [], len(losses), 0
    for quarter in np.array_split(losses, min(4, n)):
        done += len(quarter)
        at = {"step": (number - 1) * n + done, "epoch": number - 1 + done / n}
        rows.append(at | {"split": "train", "loss": float(quarter.mean())})
    if dev_loss is None:
        return rows
    running.check_losses([dev_loss], number * n - 1, "development loss")
    return [*rows, at | {"split": "dev", "loss": dev_loss}]


def whole_epochs(curve: Sequence[dict[str, Any]]) -> int:
    """The number of epochs that the rows of a curve hold to their end."""
    return int(curve[-1]["epoch"]) if curve else 0


@dataclass(frozen=True)
class Parts:
    """Everything that a step of training reads and changes; `order` samples the batches."""

    model: torch.nn.Module
    schedule: LRScheduler
    order: torch.Generator


def claim_state(work: Path, script: Path, device: torch.device, given: dict[str, Any]) -> Path:
    """The path of a run's state in `work`; what another run left there is removed.

    That is one of another script or code of its, on another device, or `given` something else.
    """
    made_by = {"code": code_digest.digest(script), "threads": torch.get_num_threads()}
    made_by |= {"device": str(device), "versions": models.versions()}
    text = json.dumps(given | made_by, sort_keys=True, indent=2)
    path = work / IDENTITY
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        digests.replace(path, text.encode())
    return work / STATE


def save_state(path: Path, parts: Parts, curve: list[dict[str, Any]]) -> None:
    """Write the state in place of the one at `path`, which is whole at any time."""
    optimizer = parts.schedule.optimizer.state_dict()
    tensors = {f"model/{name}": value for name, value in _weights(parts.model).items()}
    for number, moments in optimizer["state"].items():
        tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
    tensors |= {f"random/{name}": read() for name, (read, _) in _streams(parts).items()}
    settings = {"groups": optimizer["param_groups"], "schedule": parts.schedule.state_dict()}
    settings |= {"curve": curve}
    partial = path.with_name(path.name + digests.PARTIAL)
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    save_file(contiguous, partial, metadata={"settings": json.dumps(settings)})
    os.replace(partial, path)


def resume_state(path: Path, parts: Parts) -> list[dict[str, Any]]:
    """Put the state at `path` into the parts; the curve so far."""
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
    return settings["curve"]


def _weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers, shared ones once."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def _streams(parts: Parts) -> dict[str, Stream]:
    """How each random stream's state is read and written."""
    streams: dict[str, Stream] = {
        "order": (parts.order.get_state, parts.order.set_state),
        "cpu": (torch.get_rng_state, torch.set_rng_state),
    }
    if torch.cuda.is_available():
        streams["cuda"] = (torch.cuda.get_rng_state, torch.cuda.set_rng_state)
    return streams
