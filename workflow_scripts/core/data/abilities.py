"""What a study expects of a model: its kind, and the special tokens that chapters need."""

from collections.abc import Mapping, Sequence
from typing import Any

from workflow_scripts.core.errors import InputError

TOKENS = {"cls": "a [CLS] token", "sep": "a [SEP] token", "mask": "a mask token"}


def check_abilities(card: dict[str, Any], needed: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError where the model of `card` lacks one of the TOKENS in `needed`.

    `needed` gives the chapters that need each token.
    """
    for kind, chapters in needed.items():
        if card["special"][kind] is None:
            lack = f"{TOKENS[kind]}; the tokenizer in {_place(card)} has none"
            lack += "" if kind == "mask" else ", or leaves it out of texts or pairs"
            users = " and ".join(chapters)
            needs = "needs" if len(chapters) == 1 else "need"
            raise InputError(f"{users} {needs} {lack}: use another model or remove {users}")


def check_kind(card: dict[str, Any], kind: str) -> None:
    """Raise InputError where the model of `card` is not of the kind that its entry states.

    Or where it is an encoder without a padding token.
    """
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
