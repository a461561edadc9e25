"""Heads' names in tables and figures: `<layer>-<head>`, both counted from 1, as in the papers."""

import re
from typing import TYPE_CHECKING

from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def label(layer: int, head: int) -> str:
    """The name of the head with 0-based `layer` and `head`: (7, 10) is 8-11."""
    return f"{layer + 1}-{head + 1}"


def labels(frame: "pd.DataFrame") -> list[str]:
    """The names of the heads of a table with 0-based columns layer and head."""
    return [label(layer, head) for layer, head in zip(frame["layer"], frame["head"], strict=True)]


def parse(name: str, n_layers: int, n_heads: int) -> tuple[int, int]:
    """0-based layer and head of a label. Raises InputError where the model has no such head."""
    match = re.fullmatch(r"([1-9]\d*)-([1-9]\d*)", name)
    if match is None:
        raise InputError(f"head {name!r}: write <layer>-<head> from 1, as 8-11")
    layer, head = int(match[1]) - 1, int(match[2]) - 1
    if layer >= n_layers or head >= n_heads:
        raise InputError(
            f"head {name}: the model has layers 1 to {n_layers} with heads 1 to {n_heads}"
        )
    return layer, head
