"""Reading and writing the model's card, without torch."""

import json
from pathlib import Path
from typing import Any

from workflow_scripts.core.run.errors import InputError


def read_card(path: Path) -> dict[str, Any]:
    """The content of a model.json, as `models.describe` gives it.

    Raises InputError where the file is damaged.
    """
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(
            f"{path}: not a model's card ({error}); delete it and run again"
        ) from error
    if not isinstance(card, dict):
        raise InputError(f"{path}: not a model's card; delete it and run again")
    return card


def write_card(card: dict[str, Any], path: Path) -> None:
    """Write a model.json, indented for people."""
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def is_current(path: Path, source: dict[str, str]) -> bool:
    """Whether the card at `path` is that of the model from `source` as it is now.

    It is not where there is none, or where a file of a local model is newer.
    """
    if not path.is_file() or read_card(path)["source"] != source:
        return False
    files = Path(source["path"]).iterdir() if "path" in source else []
    return all(file.stat().st_mtime <= path.stat().st_mtime for file in files)
