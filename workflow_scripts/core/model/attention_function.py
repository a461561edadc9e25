"""The attention function that `transformers` calls, and who watches which module's attention.

`attention.py` opens a model for it; nothing else needs this module.
"""

import math
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary

import torch
from torch import nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from workflow_scripts.core.run.errors import InputError

NAME = "atlas"
SUM_TOLERANCE = 1e-4
# Arguments of attention that leave its scores alone: what is returned, what only other kernels
# read, and what queries, keys and the mask hold already.
HARMLESS = frozenset(
    (
        "output_attentions output_hidden_states return_dict use_cache num_items_in_batch "
        "deterministic position_ids cache_position is_causal"
    ).split()
)


class Watcher:
    """Reads, and may change, patterns and head outputs during a model's forward pass.

    `layer` counts from 0 over `attention.sublayers(model)`. `real` marks the keys that queries may
    see: bool [batch, key], false at padding, or [batch, query, key] in the self-attention of an
    encoder-decoder's decoder, where later tokens are hidden too.
    """

    def start(self, model: nn.Module) -> None:
        """Called before each forward pass: of an encoder-decoder, before its encoder runs."""

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The post-softmax attention to go on with: [batch, head, query, key]."""
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The heads' outputs to go on with, before they are merged: [batch, head, query, dim]."""
        return output


@dataclass
class Watched:
    """An opened model with its watchers; `calls` counts those of a pass so far.

    `called` collects the modules that call while it is a list.
    """

    model: ReferenceType[nn.Module]
    watchers: list[Watcher] = field(default_factory=list)
    calls: int = 0
    called: list[nn.Module] | None = None

    def start(self, *hooked: Any) -> None:
        """Begin a pass; a forward pre-hook."""
        self.calls = 0
        for watcher in self.watchers:
            watcher.start(self.model())


@dataclass(frozen=True)
class AttentionModule:
    """What is known of a module: its model, and its sublayer's number.

    `layer` is None where one module serves several layers, which the calls of a pass count.
    `directed` means that later tokens are hidden from a query, in a decoder after an encoder.
    """

    watched: Watched
    layer: int | None
    directed: bool = False


MODULES: WeakKeyDictionary[nn.Module, AttentionModule] = WeakKeyDictionary()


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Plain attention, [batch, head, token, dim] in, [batch, token, head, dim] and pattern out.

    `position_bias` is added to the scores, as T5 does. Raises InputError for any other argument
    that is given and not among HARMLESS.
    """
    window = others.pop("sliding_window", None)  # which the mask holds already, where there is one
    if attention_mask is None and window is not None and key.shape[2] > window:
        others["sliding_window"] = window
    _refuse_unknown(module, others)
    known = MODULES.get(module)
    if known is None:
        raise RuntimeError("a model with this attention, or a copy of one: call open_attention(it)")
    layer = _count(module, known)
    scaling = query.size(-1) ** -0.5 if scaling is None else scaling
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if position_bias is not None:
        scores = scores + position_bias
    if attention_mask is not None:
        scores = scores + attention_mask
    exact = torch.promote_types(scores.dtype, torch.float32)  # half precision would not sum to 1
    pattern = nn.functional.softmax(scores, dim=-1, dtype=exact)
    watchers = known.watched.watchers
    real = _real(attention_mask, pattern, known.directed) if watchers else None
    for watcher in watchers:
        pattern = watcher.pattern(layer, pattern, real)
    weights = nn.functional.dropout(pattern.to(value.dtype), p=dropout, training=module.training)
    output = torch.matmul(weights, value)
    for watcher in watchers:
        output = watcher.output(layer, output, real)
    return output.transpose(1, 2).contiguous(), pattern


def _count(module: nn.Module, known: AttentionModule) -> int:
    """The number of the sublayer that calls."""
    watched = known.watched
    if watched.called is not None:
        watched.called.append(module)
    watched.calls += 1
    return watched.calls - 1 if known.layer is None else known.layer


def check_rows(layer: int, pattern: torch.Tensor, real: torch.Tensor, alone: bool) -> None:
    """Rows over real keys sum to 1. Raises InputError for a NaN, RuntimeError for another sum.

    With `alone`, rows of padded queries may see no key at all and are left out.
    """
    with torch.autocast(pattern.device.type, enabled=False):
        terms = "bhqk,bk->bhq" if real.ndim == 2 else "bhqk,bqk->bhq"
        sums = torch.einsum(terms, pattern.detach(), real.to(pattern.dtype))
    error = ((sums - 1).abs() * (real[:, None] if alone else 1)).max().item()
    if math.isnan(error):
        raise InputError(
            f"layer {layer + 1}: attention is NaN, though the weights are not: scores overflow; "
            "use another model, or train it with a lower learning rate"
        )
    if error > SUM_TOLERANCE:
        raise RuntimeError(f"layer {layer + 1}: a row of the pattern sums to 1 +- {error:.2g}")


def _real(mask: torch.Tensor | None, pattern: torch.Tensor, directed: bool) -> torch.Tensor:
    """Which keys are real: bool [batch, key], or [batch, query, key] for `directed` attention.

    `mask` is added to the scores, [batch or 1, 1, query or 1, key]: 0, or the least number of its
    type. Without one every key is real.
    """
    batch, _, queries, keys = pattern.shape
    if mask is None:
        shape = (batch, queries, keys) if directed else (batch, keys)
        return torch.ones(shape, dtype=torch.bool, device=pattern.device)
    seen = (mask > torch.finfo(mask.dtype).min / 2)[:, 0]
    return seen.expand(batch, queries, keys) if directed else seen.any(1).expand(batch, keys)


def _refuse_unknown(module: nn.Module, arguments: dict[str, Any]) -> None:
    """Raise InputError for an argument that is given, as None and False are not, and not known."""
    for name, given in arguments.items():
        if name not in HARMLESS and given is not None and given is not False:
            raise InputError(
                f"{type(module).__name__}: attention is given {name}, which may change its scores "
                "and is unknown to this workflow; use another architecture"
            )


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, eager_mask)
