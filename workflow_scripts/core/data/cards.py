"""Reading and writing the model's card, without torch."""

import json
from pathlib import Path
from typing import Any


def read_card(path: Path) -> dict[str, Any]:
    """The content of a model.json, as `models.describe` gives it."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_card(card: dict[str, Any], path: Path) -> None:
    """Write a model.json, indented for people."""
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
