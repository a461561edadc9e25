"""Models that come as a GGUF file: how a source names one, and where its weights are kept.

The study dequantises such a file once, next to the model's card. This directory is then the model.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

ENDING = ".gguf"
# Next to attention/, the folder of the card.
FOLDER = "dequantised"


def is_gguf(source: Mapping[str, Any]) -> bool:
    """Whether a source of the config, or of a card, is a GGUF file and not a directory."""
    place = source.get("file") or source.get("path") or source.get("package") or ""
    return place.lower().endswith(ENDING)


def directory_by(card: Path) -> Path:
    """The directory of the dequantised model whose card is at `card`."""
    return card.parent.parent / FOLDER
