"""Attention modules by what attends to what: an encoder-decoder has three types, an encoder one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

TYPES = {"encoder": "Enc-Enc", "encoder-decoder": "Enc-Dec", "decoder": "Dec-Dec"}  # for people
# T5 calls its layers `block`, and numbers the parts of a layer too.
_MODULE = re.compile(
    r"(?:.*\.)?(?P<stack>encoder|decoder)\.(?:layers|block)\.(?P<layer>\d+)\.(?:layer\.\d+\.)?"
    r"(?P<part>self_attn|encoder_attn|SelfAttention|EncDecAttention)"
)
_CROSS = {"encoder_attn", "EncDecAttention"}


@dataclass(frozen=True)
class Sublayer:
    """One attention module: its type, a key of TYPES, and its layer in its stack, from 0."""

    type: str
    layer: int


def sublayer_of(module: str) -> Sublayer | None:
    """The sublayer that a module's name means in Marian, BART, mBART, M2M100 and T5, else None."""
    found = _MODULE.fullmatch(module)
    if found is None:
        return None
    kind = "encoder-decoder" if found["part"] in _CROSS else found["stack"]
    return Sublayer(kind, int(found["layer"]))


def in_order(sublayers: Iterable[Sublayer]) -> tuple[Sublayer, ...]:
    """By type, in the order of TYPES, then by layer."""
    kinds = list(TYPES)
    return tuple(sorted(sublayers, key=lambda each: (kinds.index(each.type), each.layer)))
