"""The linear maps of a decoder's heads, read from what the modules compute.

A head's values are linear in what its layer's attention reads, and what a head adds to the residual
stream is linear in its output (Elhage et al. 2021). Both maps come from one forward pass over unit
vectors, so no architecture's names or layouts of weights are needed.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.model import attention
from workflow_scripts.core.model.attention import Watcher
from workflow_scripts.core.model.attention_function import MODULES


@dataclass
class _Basis(Watcher):
    """Collects the values of each layer's heads, and gives unit vectors as the heads' outputs."""

    values: dict[int, torch.Tensor] = field(default_factory=dict)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.values[layer] = output[:, :, 0].detach()  # [row, head, dim]
        return units(len(output), output[0].numel(), output).view_as(output)


def head_maps(model: PreTrainedModel) -> tuple[torch.Tensor, torch.Tensor]:
    """The maps into and out of each head, both [layer, head, dim, hidden].

    A head's value is `into` times what its layer's attention reads, plus a bias; `out` states what
    each dimension of its output adds to what the attention outputs: to the residual stream, but for
    a norm (Gemma 2) or a factor (Granite's residual_multiplier) in between.
    """
    body, width = model.base_model, model.config.hidden_size
    modules, added = attention_modules(model), {}
    n_heads = attention.n_heads(model)
    sizes = (getattr(model.config, name, None) for name in ("v_head_dim", "head_dim"))
    dim = next(filter(None, sizes), width // n_heads)
    rows = 1 + max(width, n_heads * dim)
    basis = _Basis()

    def enter(module: nn.Module, args: tuple, given: dict[str, Any]) -> tuple[tuple, dict]:
        states = units(rows, width, states_of(args, given)).unsqueeze(1)
        return ((states, *args[1:]), given) if args else (args, given | {"hidden_states": states})

    def leave(module: nn.Module, args: tuple, result: Any) -> None:
        added[modules[module]] = result[0][:, 0].detach()

    handles = [module.register_forward_pre_hook(enter, with_kwargs=True) for module in modules]
    handles += [module.register_forward_hook(leave) for module in modules]
    tokens = torch.zeros((rows, 1), dtype=torch.long, device=model.device)
    with ExitStack() as hooks, torch.inference_mode(), attention.watching(model, basis):
        for handle in handles:
            hooks.enter_context(handle)
        body(input_ids=tokens, use_cache=False)
    layers = sorted(added)
    into = [(values := basis.values[layer])[1 : 1 + width] - values[0] for layer in layers]
    out = [(made := added[layer])[1 : 1 + n_heads * dim] - made[0] for layer in layers]
    return (
        torch.stack(into).permute(0, 2, 3, 1).contiguous(),
        torch.stack(out).view(len(layers), n_heads, dim, width),
    )


def attention_modules(model: PreTrainedModel) -> dict[nn.Module, int]:
    """The modules that compute the attention of an opened decoder, each with its layer."""
    return {
        module: MODULES[module].layer
        for module in model.modules()
        if module in MODULES and MODULES[module].watched.model() is model
    }


def units(rows: int, width: int, like: torch.Tensor) -> torch.Tensor:
    """A row of zeros, the unit vectors of `width` dimensions, and zeros again: [rows, width]."""
    made = torch.zeros((rows, width), dtype=like.dtype, device=like.device)
    made[1 : 1 + width] = torch.eye(width, dtype=like.dtype, device=like.device)
    return made


def states_of(args: tuple, given: dict[str, Any]) -> torch.Tensor:
    """The hidden states among the arguments of an attention module."""
    return args[0] if args else given["hidden_states"]
