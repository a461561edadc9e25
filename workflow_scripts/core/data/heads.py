"""Names of heads, `<layer>-<head>` from 1 as in the papers, and types of attention modules."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Of an encoder's heads; a head is shown as the first that applies.
KINDS = ("syntactic", "frames", "coreference", "same word", "position", "special tokens")
KINDS += ("unclassified",)


def rows_of_kind(heads: "pd.DataFrame", kind: str) -> "np.ndarray":
    """Which rows of a table with a column `kinds` are of a kind, bool; a head may be of several."""
    return heads["kinds"].map(lambda kinds: kind in kinds.split(", ")).to_numpy(bool)


def head_label(layer: int, head: int) -> str:
    """The name of the head with 0-based `layer` and `head`: (7, 10) is 8-11."""
    return f"{layer + 1}-{head + 1}"


def head_labels(frame: "pd.DataFrame") -> list[str]:
    """The names of the heads of a table with 0-based columns layer and head."""
    return [
        head_label(layer, head) for layer, head in zip(frame["layer"], frame["head"], strict=True)
    ]


def parse_head(name: str, n_layers: int, n_heads: int) -> tuple[int, int]:
    """0-based layer and head of a label. Raises InputError where the model has no such head."""
    layer, head = (int(number) - 1 for number in name.split("-"))  # the schema checks its form
    if layer >= n_layers or head >= n_heads:
        raise InputError(
            f"head {name}: the model has layers 1 to {n_layers} with heads 1 to {n_heads}"
        )
    return layer, head


# With their names for people.
ATTENTION_TYPES = {"encoder": "Enc-Enc", "encoder-decoder": "Enc-Dec", "decoder": "Dec-Dec"}
# T5 calls its layers `block`, and numbers the parts of a layer too.
_MODULE = re.compile(
    r"(?:.*\.)?(?P<stack>encoder|decoder)\.(?:layers|block)\.(?P<layer>\d+)\.(?:layer\.\d+\.)?"
    r"(?P<part>self_attn|encoder_attn|SelfAttention|EncDecAttention)"
)
_CROSS = {"encoder_attn", "EncDecAttention"}


@dataclass(frozen=True)
class Sublayer:
    """An attention module: its type, one of ATTENTION_TYPES, and its layer in its stack, from 0."""

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
    """By type, in the order of ATTENTION_TYPES, then by layer."""
    kinds = list(ATTENTION_TYPES)
    return tuple(sorted(sublayers, key=lambda each: (kinds.index(each.type), each.layer)))
