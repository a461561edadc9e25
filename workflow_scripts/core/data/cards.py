"""Reading and writing a model's card, without torch."""

import json
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.gguf_sources import directory_by, is_gguf
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance
from workflow_scripts.core.run.files import files_below


def read_card(path: Path) -> dict[str, Any]:
    """The content of a card, as `models.describe` gives it.

    A model that the study trained stands next to its card, which has its name as `trained`: so it
    is found wherever the study is. So is a dequantised model, whose `directory` is added. Raises
    InputError where the file is damaged.
    """
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(
            f"{path}: not a model's card ({error}); delete it and run again"
        ) from error
    if not isinstance(card, dict):
        raise InputError(f"{path}: not a model's card; delete it and run again")
    source = card.get("source")
    if isinstance(source, dict) and "trained" in source:
        card["source"] = {"path": str(path.parent / str(source["trained"]))}
    elif isinstance(source, dict) and is_gguf(source):
        card["directory"] = str(directory_by(path))
    return card


def write_card(card: dict[str, Any], path: Path) -> None:
    """Write a model.json, indented for people."""
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def is_current(path: Path, source: dict[str, str]) -> bool:
    """Whether the card at `path` is that of the model from `source` as it is now.

    It is not where there is none, or where a file of a local model is not the one on record. Of a
    model in a package, `source` has the digest.
    """
    if not path.is_file() or read_card(path)["source"] != source:
        return False
    if "path" not in source:
        return True
    made = directory_by(path) if is_gguf(source) else path
    record = provenance.read(made) or {"inputs": {}}
    made_of = {name: content["sha256"] for name, content in record["inputs"].items()}
    files = files_below(Path(source["path"]), deep=False)
    return made_of == {str(file): digests.sha256(file) for file in files}


def in_words(source: dict[str, str]) -> str:
    """The source on a card, for people: "package p/model, version 1.0, sha256 5d7c06e027fc"."""
    shown = source | ({"sha256": source["sha256"][:12]} if "sha256" in source else {})
    return ", ".join(f"{key} {value}" for key, value in shown.items())
