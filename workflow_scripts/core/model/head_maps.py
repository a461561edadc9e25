"""The linear maps of heads, the norms of what heads read, and the norms around attention.

A head's values are linear in what its layer's attention reads, and what a head adds to the residual
stream is linear in its output (Elhage et al. 2021). A decoder's maps come from one forward pass
over unit vectors, so no architecture's names or layouts of weights are needed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.layers import merges_of

LARGE = 1e3  # of the probe of a norm, next to which its epsilon is nothing


@dataclass
class _Basis(attention.Watcher):
    """Collects the values of each layer's heads, and gives unit vectors as the heads' outputs."""

    values: dict[int, torch.Tensor] = field(default_factory=dict)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.values[layer] = output[:, :, 0].detach()  # [row, head, dim]
        return units(len(output), output[0].numel(), output).view_as(output)


def head_maps(model: PreTrainedModel) -> tuple[torch.Tensor, torch.Tensor]:
    """The maps into and out of each head, both [layer, head, dim, hidden].

    A head's value is `into` times what its layer's attention reads, plus a bias; `out` is what each
    dimension of its output adds to the attention's: to the residual stream, but for a norm (Gemma
    2) or a factor (Granite's residual_multiplier) in between.
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
        module: attention.MODULES[module].layer
        for module in model.modules()
        if module in attention.MODULES and attention.MODULES[module].watched.model() is model
    }


def units(rows: int, width: int, like: torch.Tensor) -> torch.Tensor:
    """A row of zeros, the unit vectors of `width` dimensions, and zeros again: [rows, width]."""
    made = torch.zeros((rows, width), dtype=like.dtype, device=like.device)
    made[1 : 1 + width] = torch.eye(width, dtype=like.dtype, device=like.device)
    return made


def states_of(args: tuple, given: dict[str, Any]) -> torch.Tensor:
    """The hidden states among the arguments of an attention module."""
    return args[0] if args else given["hidden_states"]


class Values(attention.Watcher):
    """Hands on each layer's pattern [batch, head, query, key] and values [batch, head, key, dim].

    The heads' outputs under an identity pattern are their values; then each head's own pattern is
    put back. Rows of padded queries and columns of padded keys are handed on, too.
    """

    def __init__(self, hand: Callable[[int, torch.Tensor, torch.Tensor], None]) -> None:
        self._hand = hand

    def start(self, model: torch.nn.Module) -> None:
        if model.training:
            raise RuntimeError("values are read in eval mode: call model.eval() first")

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._pattern = pattern
        identity = torch.eye(pattern.shape[-1], dtype=pattern.dtype, device=pattern.device)
        return identity.expand_as(pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._hand(layer, self._pattern, output)
        return self._pattern.to(output.dtype) @ output


class ValueNorms(Values):
    """Hands on each layer's pattern and ||f(x)|| [batch, head, key], by `output_grams`."""

    def __init__(
        self, grams: torch.Tensor, hand: Callable[[int, torch.Tensor, torch.Tensor], None]
    ) -> None:
        def norms(layer: int, pattern: torch.Tensor, values: torch.Tensor) -> None:
            gram = grams[layer].to(values.dtype)
            squares = torch.einsum("bhkd,hde,bhke->bhk", values, gram, values)
            hand(layer, pattern, squares.clamp(min=0).sqrt())

        super().__init__(norms)


def output_grams(model: PreTrainedModel) -> torch.Tensor:
    """Each head's W_O W_O^T, [layer, head, dim, dim]."""
    out = output_maps(model)
    return out @ out.transpose(-1, -2)


def output_maps(model: PreTrainedModel) -> torch.Tensor:
    """Each head's W_O, [layer, head, dim, hidden]; InputError where an encoder's is not known."""
    if not attention.is_bidirectional(model):
        return head_maps(model)[1]
    merges = merges_of(model)
    if merges is None:
        raise InputError(
            f"{model.config.model_type}: the output projections of its attention are not known, "
            "so that norms cannot be measured; remove the chapter that measures them from this "
            "model's `chapters`"
        )
    weights = torch.stack([merge.weight.detach() for merge, _ in merges])
    by_head = weights.unflatten(2, (attention.n_heads(model), -1))
    return by_head.permute(0, 2, 3, 1)


def weighted(pattern: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    """Each key's share of a query's norms, alpha ||f(x)|| over their sum: as `pattern`.

    A row without any norm stays 0. Weight that goes to no token has no share.
    """
    products = pattern * norms[:, :, None].to(pattern.dtype)
    return products / products.sum(-1, keepdim=True).clamp(min=torch.finfo(products.dtype).tiny)


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
    """The norm modules, or None, before and after each attention, and before the unembedding."""

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
