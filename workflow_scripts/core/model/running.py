"""How models run: in batches of similar lengths, on a device, by oneDNN, with finite numbers."""

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from workflow_scripts.core.data.tokens import IGNORED, Tokens
from workflow_scripts.core.errors import InputError

REMEDY = "lower the learning rate, and see whether the model, texts and labels are the right ones"
ONEDNN = (
    torch.backends.mkldnn.is_available()
    and torch.backends.cpu.get_cpu_capability() == "AVX512"
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)

# Settings of glibc's malloc.h, by their numbers: while memory is kept, and what it has by itself.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
KEPT = {M_TRIM_THRESHOLD: -1, M_MMAP_MAX: 0}
GIVEN_BACK = {M_TRIM_THRESHOLD: 2**26, M_MMAP_THRESHOLD: 2**25, M_MMAP_MAX: 2**16}


@contextmanager
def memory_kept() -> Iterator[None]:
    """Within, glibc uses freed memory again: the kernel need not clear pages for each new tensor.

    Not for passes with gradients, whose tensors of many sizes leave gaps: peaks would double.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):  # as on macOS
        yield
        return
    for setting in KEPT.items():
        libc.mallopt(*setting)
    try:
        yield
    finally:
        for setting in GIVEN_BACK.items():
            libc.mallopt(*setting)
        libc.malloc_trim(0)


@contextmanager
def recomputed(model: PreTrainedModel) -> Iterator[None]:
    """Within, layers keep only their inputs for a backward pass, which runs each layer again.

    Linear layers run by oneDNN both times. Watchers of a pass must still be there in its backward
    pass, and its keys must not be kept for later tokens.
    """
    # What transformers offers for this works in training mode alone, which has dropout.
    layers = [each for each in model.modules() if isinstance(each, GradientCheckpointingLayer)]
    again = partial(checkpoint, use_reentrant=False, context_fn=lambda: (nullcontext(), OneDNN()))
    for layer in layers:
        layer.forward = partial(again, layer.forward)
    try:
        with OneDNN():
            yield
    finally:
        for layer in layers:
            del layer.forward


def by_length(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Batches of example indices; padded, none exceeds `batch_tokens` tokens but of one example.

    Longest first, so that a batch that does not fit into memory fails at the start.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches


def chunks_by_length(lengths: Sequence[int], size: int) -> list[np.ndarray]:
    """Batches of `size` example indices, shortest first, however many tokens they have."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def part_of(lengths: Sequence[int], batch_tokens: int, part: str) -> np.ndarray:
    """The examples of one part, `2-of-8` say, as ascending indices: its share of the batches.

    `by_length` forms the same batches of a part's examples alone, so that no product depends on the
    number of parts. Those with the most tokens are dealt first, each to the part with the fewest.
    """
    number, n_parts = (int(text) for text in part.split("-of-"))
    batches = by_length(lengths, batch_tokens)
    padded = [len(batch) * int(lengths[batch[0]]) for batch in batches]
    load, chosen = np.zeros(n_parts), [np.empty(0, int)]
    for index in np.argsort(padded, kind="stable")[::-1]:
        dealt_to = int(load.argmin())
        load[dealt_to] += padded[index]
        if dealt_to == number - 1:
            chosen.append(batches[index])
    return np.sort(np.concatenate(chosen))


def padding_token(config: PretrainedConfig) -> int:
    """The number of the padding or else end token, or 0 where the embedding has neither."""
    found = config.pad_token_id if config.pad_token_id is not None else config.eos_token_id
    found = found[0] if isinstance(found, list) else found
    return found if found is not None and 0 <= found < config.vocab_size else 0


def pad(tokens: Sequence[Tokens], model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Inputs of a batch, padded to its longest example, on the model's device: [batch, token].

    Padding is masked, and stands on the right. `labels` are there where texts have some, padded
    with IGNORED.
    """
    config = model.config
    inputs = {
        "input_ids": stack([example.ids for example in tokens], padding_token(config)),
        "attention_mask": stack([np.ones(len(example)) for example in tokens]),
    }
    if getattr(config, "type_vocab_size", 0) > 1:  # it tells the first text from the second
        inputs["token_type_ids"] = stack([example.segment for example in tokens])
    if labels := [example.labels for example in tokens if example.labels is not None]:
        inputs["labels"] = stack(labels, IGNORED)
    return {name: value.to(model.device) for name, value in inputs.items()}


def stack(rows: Sequence[np.ndarray | Sequence[int]], padding: int = 0) -> torch.Tensor:
    """Rows of different lengths as one int64 tensor, the shorter ones padded on the right."""
    return pad_sequence([torch.as_tensor(row).long() for row in rows], True, padding)


def pick_device(device: str) -> torch.device:
    """The device that a study names; `auto` takes a GPU where there is one."""
    if device == "auto":
        accelerators = {"cuda": torch.cuda, "mps": torch.backends.mps}
        device = next((name for name, it in accelerators.items() if it.is_available()), "cpu")
    return torch.device(device)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Forward passes within run in `precision`: float32 or bfloat16."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision != "float32")


@contextmanager
def replaced(module: torch.nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Within, a module's call runs `forward` instead."""
    module.forward = forward
    try:
        yield
    finally:
        del module.forward


class OneDNN(TorchFunctionMode):
    """Within, every linear layer that is `served_by_onednn` runs by it."""

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if function is functional.linear and not kwargs and served_by_onednn(*args[:2]):
            return Linear.apply(*args) if torch.is_grad_enabled() else linear_product(*args)
        return function(*args, **(kwargs or {}))


class Linear(torch.autograd.Function):
    """functional.linear whose backward pass is oneDNN's, too."""

    @staticmethod
    def forward(context: Any, states: torch.Tensor, weight: torch.Tensor, *bias: Any) -> Any:
        context.save_for_backward(states, weight)
        return linear_product(states, weight, *bias)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple:
        states, weight = context.saved_tensors
        needed, rows = context.needs_input_grad, gradient.flatten(0, -2)
        of_states = linear_product(gradient, weight.t()) if needed[0] else None
        of_weight = linear_product(rows.t(), states.flatten(0, -2).t()) if needed[1] else None
        return of_states, of_weight, *(rows.sum(0) if need else None for need in needed[2:])


def linear_product(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """States [..., in] times weight [out, in], plus bias [out]: [..., out]."""
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")


def served_by_onednn(states: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether the product is one of float32 on a CPU with AVX-512, and not empty."""
    return (
        ONEDNN
        and states.is_cpu
        and states.dtype == weight.dtype == torch.float32
        and states.dim() > 1
        and states.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )


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
