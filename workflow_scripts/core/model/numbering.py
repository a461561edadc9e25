"""Which sublayer each attention module is, by the calls of one forward pass.

`kind` is the model's architecture, as config.json names it.
"""

from collections import Counter
from collections.abc import Sequence

from torch import nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention_function import Call
from workflow_scripts.core.model.sublayers import Sublayer


def by_call(kind: str, called: Sequence[nn.Module], n_layers: int) -> dict[nn.Module, int | None]:
    """The modules of an encoder or decoder in the order of their calls; None for a shared one."""
    if len(called) > n_layers:
        raise InputError(
            f"{kind}: attention is asked for {len(called)} times in {n_layers} layers; use another "
            "architecture"
        )
    if len(called) < n_layers:
        raise InputError(
            f"{kind}: {len(called)} of {n_layers} layers hand their attention to transformers' "
            "AttentionInterface; use another architecture"
        )
    shared = len(set(called)) < len(called)
    return {module: None if shared else number for number, module in enumerate(called)}


def by_name(
    kind: str,
    called: Sequence[nn.Module],
    named: dict[nn.Module, Sublayer],
    order: Sequence[Sublayer],
) -> dict[nn.Module, int]:
    """An encoder-decoder's modules in `order`, once each of `named` has called and no other has."""
    times = Counter(called)
    once = sum(times[module] == 1 for module in named)
    strange = [type(module).__name__ for module in called if module not in named]
    if strange or not 0 < once == len(named) == len(set(order)):
        why = f"{once} of {len(named)} attention modules known by name hand their attention"
        raise InputError(
            f"{kind}: "
            + (f"{strange[0]} hands its attention, of no known name," if strange else why)
            + " to transformers' AttentionInterface once in a pass; use another architecture"
        )
    return {module: order.index(sublayer) for module, sublayer in named.items()}


def check_heads(kind: str, called: Sequence[Call], n_heads: int) -> None:
    """Raise InputError unless each layer has `n_heads` heads, and as many key-value heads."""
    found = sorted({(call.heads, call.kv_heads) for call in called})
    if len(found) > 1 or found[0][0] != n_heads:
        counts = " and ".join(f"{heads} ({kv_heads} for keys)" for heads, kv_heads in found)
        raise InputError(
            f"{kind}: layers with {counts} heads, where config.json has {n_heads}; use a model "
            "with the same number in every layer"
        )
