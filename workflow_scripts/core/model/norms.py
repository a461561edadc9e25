"""A decoder's norms, read from what its modules compute."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.model.head_maps import attention_modules, states_of

LARGE = 1e3  # of the probe of a norm, next to which its epsilon is nothing


@dataclass(frozen=True)
class Norm:
    """A LayerNorm or RMSNorm: `weight` [hidden], and whether the mean is subtracted."""

    weight: torch.Tensor
    bias: torch.Tensor
    centred: bool

    def unscaled(self, states: torch.Tensor) -> torch.Tensor:
        """What the norm makes of states [..., hidden] but for their scale and its bias."""
        centred = states - states.mean(-1, keepdim=True) if self.centred else states
        return centred * self.weight

    def transposed(self, rows: torch.Tensor) -> torch.Tensor:
        """What rows [..., hidden] that read the normed states read of `before`, but for scale."""
        weighted = rows * self.weight
        return weighted - weighted.mean(-1, keepdim=True) if self.centred else weighted

    def scale(self, before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        """By what the norm multiplied `unscaled` states when it made `after` of `before`: [...]."""
        base = self.unscaled(before)
        return ((after - self.bias) * base).sum(-1) / (base * base).sum(-1)


@dataclass(frozen=True)
class Norms:
    """The norm modules before and after each layer's attention, and before the unembedding.

    None where there is none.
    """

    before: tuple[nn.Module | None, ...]
    after: tuple[nn.Module | None, ...]
    final: nn.Module | None


def find_norms(model: PreTrainedModel) -> Norms:
    """The norms around attention, by which module reads what another made in a forward pass."""
    modules = attention_modules(model)
    names = {module: name for name, module in model.named_modules()}
    made: dict[int, tuple[nn.Module, torch.Tensor]] = {}
    added: dict[int, tuple[int, torch.Tensor]] = {}
    before, after, called = {}, {}, []

    def enter(module: nn.Module, args: tuple, given: dict[str, Any]) -> None:
        before[modules[module]] = made.get(id(states_of(args, given)), (None,))[0]

    def leave(module: nn.Module, args: tuple, result: Any) -> None:
        added[id(result[0])] = modules[module], result[0]

    def normed(module: nn.Module, args: tuple, result: torch.Tensor) -> None:
        called.append(module)
        made[id(result)] = module, result
        if (layer := added.get(id(args[0]), (None,))[0]) is not None:
            after[layer] = module

    handles = [module.register_forward_pre_hook(enter, with_kwargs=True) for module in modules]
    handles += [module.register_forward_hook(leave) for module in modules]
    norms = [module for module in names if "Norm" in type(module).__name__]
    handles += [module.register_forward_hook(normed) for module in norms]
    tokens = torch.zeros((1, 2), dtype=torch.long, device=model.device)
    with ExitStack() as hooks, torch.inference_mode():
        for handle in handles:
            hooks.enter_context(handle)
        model(input_ids=tokens, use_cache=False)
    final = called[-1] if called else None
    if final is not None and any(part.isdigit() for part in names[final].split(".")):
        final = None  # it is a layer's
    layers = range(len(modules))
    return Norms(tuple(map(before.get, layers)), tuple(map(after.get, layers)), final)


def linear_norm(module: nn.Module, width: int, like: torch.Tensor) -> Norm:
    """The weight and bias of a norm over `width` numbers, by what it makes of three vectors."""
    probe = LARGE * (torch.arange(width) % 2 * 2.0 - 1).to(like)
    with torch.inference_mode():
        bias, of_ones, made = module(torch.stack([0 * probe, torch.ones_like(probe), probe]))
    centred = bool(torch.allclose(of_ones, bias, atol=1e-3))
    base = probe - probe.mean() if centred else probe
    return Norm((made - bias) * base.square().mean().sqrt() / base, bias, centred)


@contextmanager
def recorded(modules: Mapping[str | int, nn.Module]) -> Iterator[dict]:
    """Within, what each of `modules` last read and made is kept under its key."""
    kept: dict[str | int, tuple[torch.Tensor, torch.Tensor]] = {}

    def keeper(key: str | int) -> Any:
        def keep(module: nn.Module, args: tuple, result: torch.Tensor) -> None:
            kept[key] = args[0].detach(), result.detach()

        return keep

    with ExitStack() as hooks:
        for key, module in modules.items():
            hooks.enter_context(module.register_forward_hook(keeper(key)))
        yield kept
