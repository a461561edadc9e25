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

from workflow_scripts.core.errors import InputError

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
    see: bool [batch, key], false at padding, or [batch, query, key] in the self-attention of a
    decoder, where later tokens are hidden too, and those before its window. Heads are those of the
    queries, also where several share a key-value head.
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

    `called` collects the calls while it is a list.
    """

    model: ReferenceType[nn.Module]
    watchers: list[Watcher] = field(default_factory=list)
    calls: int = 0
    called: list["Call"] | None = None

    def start(self, *hooked: Any) -> None:
        """Begin a pass; a forward pre-hook."""
        self.calls = 0
        for watcher in self.watchers:
            watcher.start(self.model())


@dataclass(frozen=True)
class AttentionModule:
    """What is known of a module: its model, and its sublayer's number.

    `layer` is None where one module serves several layers, which the calls of a pass count.
    `directed` means that later tokens are hidden from a query; `sinks` that each softmax has a term
    for no token, so that rows of a pattern sum to less than 1.
    """

    watched: Watched
    layer: int | None
    kv_heads: int = 0
    directed: bool = False
    sinks: bool = False


@dataclass(frozen=True)
class Call:
    """A module's call: its heads, and whether it hides later tokens and has a sink that is none."""

    module: nn.Module
    heads: int
    kv_heads: int
    directed: bool
    sinks: bool


MODULES: WeakKeyDictionary[nn.Module, AttentionModule] = WeakKeyDictionary()


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Plain attention, [batch, head, token, dim] in, [batch, token, head, dim] and pattern out.

    Keys and values may have fewer heads, each for as many neighbouring heads of the queries, and
    fewer rows, each for as many neighbouring rows: the hypotheses of a source.
    Raises InputError for an argument that is given and neither used by `_pattern` nor HARMLESS.
    """
    window = others.pop("sliding_window", None)  # which the mask holds already, where there is one
    if attention_mask is None and window is not None and key.shape[2] > window:
        others["sliding_window"] = window
    used = {name: others.pop(name, None) for name in ("position_bias", "softcap", "s_aux")}
    _refuse_unknown(module, others)
    known = MODULES.get(module)
    if known is None:
        raise RuntimeError("a model with this attention, or a copy of one: call open_attention(it)")
    if known.watched.called is not None:
        shown = (query.shape[1], key.shape[1], _hides_later(attention_mask))
        known.watched.called.append(Call(module, *shown, used["s_aux"] is not None))
    layer = _count(known)
    if key.shape[1] < query.shape[1]:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scaling = query.size(-1) ** -0.5 if scaling is None else scaling
    rows = len(query) // len(key)
    if rows > 1 and attention_mask is not None:
        attention_mask = attention_mask.repeat_interleave(len(query) // len(attention_mask), 0)
    scores = _apart(torch.matmul(_together(query, rows), key.transpose(2, 3)), rows) * scaling
    pattern = _pattern(scores, attention_mask, **used)
    watchers = known.watched.watchers
    real = _real(attention_mask, pattern, known.directed) if watchers else None
    for watcher in watchers:
        pattern = watcher.pattern(layer, pattern, real)
    weights = nn.functional.dropout(pattern.to(value.dtype), p=dropout, training=module.training)
    output = _apart(torch.matmul(_together(weights, rows), value), rows)
    for watcher in watchers:
        output = watcher.output(layer, output, real)
    return output.transpose(1, 2).contiguous(), pattern


def _together(queries: torch.Tensor, rows: int) -> torch.Tensor:
    """[batch * rows, head, query, size] as [batch, head, rows * query, size]."""
    if rows == 1:
        return queries
    return queries.unflatten(0, (-1, rows)).transpose(1, 2).flatten(2, 3)


def _apart(queries: torch.Tensor, rows: int) -> torch.Tensor:
    """The inverse of `_together`."""
    if rows == 1:
        return queries
    return queries.unflatten(2, (rows, -1)).transpose(1, 2).flatten(0, 1)


def _pattern(
    scores: torch.Tensor,
    mask: torch.Tensor | None,
    position_bias: torch.Tensor | None,
    softcap: float | None,
    s_aux: torch.Tensor | None,
) -> torch.Tensor:
    """The softmax of scores [batch, head, query, key].

    `position_bias` is added to them, as T5 does; `softcap` bounds them before the mask, as Gemma 2
    does; `s_aux` [head] is the score of a sink that is no token, as gpt-oss has: its share is
    missing in the rows.
    """
    keys = scores.shape[-1]
    if position_bias is not None:
        scores = scores + position_bias
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = scores + mask
    exact = torch.promote_types(scores.dtype, torch.float32)  # half precision would not sum to 1
    if s_aux is not None:
        sink = s_aux.to(scores.dtype)[None, :, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, sink], dim=-1)
    return nn.functional.softmax(scores, dim=-1, dtype=exact)[..., :keys]


def _count(known: AttentionModule) -> int:
    """The number of the sublayer that calls."""
    watched = known.watched
    watched.calls += 1
    return watched.calls - 1 if known.layer is None else known.layer


def real_queries(real: torch.Tensor) -> torch.Tensor:
    """Which queries are real, bool [batch, query], where tokens attend to those of their own text.

    `real` is that of a watcher. In a decoder a real token, and no other, sees itself.
    """
    if real.ndim == 2:
        return real
    return real.diagonal(real.shape[2] - real.shape[1], dim1=1, dim2=2)


def check_rows(
    layer: int, pattern: torch.Tensor, real: torch.Tensor, alone: bool, sinks: bool
) -> None:
    """Rows over real keys sum to 1. Raises InputError for a NaN, RuntimeError for another sum.

    With `alone`, rows of padded queries may see no key at all and are left out. With `sinks`, a sum
    may be less: what is missing goes to no token.
    """
    with torch.autocast(pattern.device.type, enabled=False):
        terms = "bhqk,bk->bhq" if real.ndim == 2 else "bhqk,bqk->bhq"
        sums = torch.einsum(terms, pattern.detach(), real.to(pattern.dtype))
    error = (sums - 1).clamp(min=0) if sinks else (sums - 1).abs()
    error = (error * (real_queries(real)[:, None] if alone else 1)).max().item()
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


def _hides_later(mask: torch.Tensor | None) -> bool:
    """Whether the mask of a text of two tokens hides the second from the first."""
    return mask is not None and mask.shape[-2] > 1 and bool((mask[..., 0, 1] < 0).all())


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
