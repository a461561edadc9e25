"""Linear layers by oneDNN, which comes with PyTorch.

For float32 on x86 PyTorch asks MKL, which leaves AVX-512 unused on AMD's processors: oneDNN is
twice as fast there. Without AVX-512, and on other devices, nothing changes.

    with OneDNN():
        model(**batch).loss.backward()
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

AVAILABLE = (
    torch.backends.mkldnn.is_available()
    and torch.backends.cpu.get_cpu_capability() == "AVX512"
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)


class OneDNN(TorchFunctionMode):
    """Within, every linear layer that `serves` its operands runs by oneDNN."""

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if function is functional.linear and not kwargs and serves(*args[:2]):
            return Linear.apply(*args) if torch.is_grad_enabled() else product(*args)
        return function(*args, **(kwargs or {}))


class Linear(torch.autograd.Function):
    """functional.linear whose backward pass is oneDNN's, too."""

    @staticmethod
    def forward(context: Any, states: torch.Tensor, weight: torch.Tensor, *bias: Any) -> Any:
        context.save_for_backward(states, weight)
        return product(states, weight, *bias)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple:
        states, weight = context.saved_tensors
        needed, rows = context.needs_input_grad, gradient.flatten(0, -2)
        of_states = product(gradient, weight.t()) if needed[0] else None
        of_weight = product(rows.t(), states.flatten(0, -2).t()) if needed[1] else None
        return of_states, of_weight, *(rows.sum(0) if need else None for need in needed[2:])


def product(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """States [..., in] times weight [out, in], plus bias [out]: [..., out]."""
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")


def serves(states: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether the product is one of float32 on a CPU with AVX-512, and not empty."""
    return (
        AVAILABLE
        and states.is_cpu
        and states.dtype == weight.dtype == torch.float32
        and states.dim() > 1
        and states.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )
