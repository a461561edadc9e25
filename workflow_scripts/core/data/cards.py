"""Models' cards: reading and writing one, whether it is current, and what a study needs of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance
from workflow_scripts.core.run.files import files_below
from workflow_scripts.core.run.model_sources import local_directories

CONVERTED = "converted"  # what a model that must be converted becomes, next to attention/
NEEDED_TOKENS = {"cls": "a [CLS] token", "sep": "a [SEP] token", "mask": "a mask token"}


def converted_directory(card: Path) -> Path:
    """The directory of the converted model whose card is at `card`."""
    return card.parent.parent / CONVERTED


def read_card(path: Path) -> dict[str, Any]:
    """The content of a card, as `models.describe` gives it.

    A model that the study trained stands next to its card, which has its name as `trained`: so it
    is found wherever the study is. So is a converted model, whose `directory` is added. A model of
    the study is called what its folder is, also after that was renamed.
    """
    card = json.loads(path.read_text(encoding="utf-8"))
    if path.parent.name == "attention":
        card["name"] = path.parents[1].name
    source = card.get("source", {})
    if "trained" in source:
        card["source"] = {"path": str(path.parent / source["trained"])}
    elif "converted" in card:
        card["directory"] = str(converted_directory(path))
    return card


def write_card(card: dict[str, Any], path: Path) -> None:
    """Write a model.json, indented for people."""
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def is_current(path: Path, source: dict[str, str]) -> bool:
    """Whether the card at `path` is that of the model from `source` as it is now.

    Of a local model its files are compared with the record; in a package, `source` has the digest.
    """
    if not path.is_file() or (card := read_card(path))["source"] != source:
        return False
    if "path" not in source:
        return True
    record = provenance.read(Path(card.get("directory", path))) or {"inputs": {}}
    made_of = {name: content["sha256"] for name, content in record["inputs"].items()}
    places = map(Path, local_directories(source))
    files = [file for place in places for file in files_below(place, deep=False)]
    return made_of == {str(file): digests.sha256(file) for file in files}


def in_words(source: dict[str, str]) -> str:
    """The source on a card, for people: "package p/model, version 1.0, sha256 5d7c06e027fc"."""
    shown = source | ({"sha256": source["sha256"][:12]} if "sha256" in source else {})
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def check_abilities(card: dict[str, Any], needed: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError where the model of `card` lacks a token that `needed` names."""
    for kind, chapters in needed.items():
        if card["special"][kind] is None:
            users = " and ".join(chapters)
            raise InputError(
                f"{users}: needs {NEEDED_TOKENS[kind]}, which the tokenizer in {_place(card)} "
                f"lacks or leaves out of texts or pairs; use another model or remove {users}"
            )


def check_kind(card: dict[str, Any], kind: str) -> None:
    """Raise InputError for a model of another kind, and for an encoder without a padding token."""
    found = "encoder" if card.get("bidirectional", True) else "decoder"
    if found != kind:
        attend = "attend" if found == "encoder" else "do not attend"
        raise InputError(
            f"kind: {kind}: tokens of the model in {_place(card)} {attend} to later ones; "
            f"write kind: {found}"
        )
    if found == "encoder" and card["special"]["pad"] is None:
        raise InputError(f"{_place(card)}: the tokenizer has no padding token; use another model")


def _place(card: dict[str, Any]) -> str:
    return next(card["source"][key] for key in ("path", "package", "hub") if key in card["source"])
