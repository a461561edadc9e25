"""What the chapters of a study need of a model: special tokens, attention in both directions."""

from collections.abc import Mapping, Sequence
from typing import Any

from workflow_scripts.core.run.errors import InputError

TOKENS = {"cls": "a [CLS] token", "sep": "a [SEP] token", "mask": "a mask token"}
BIDIRECTIONAL = "bidirectional"
ABILITIES = (*TOKENS, BIDIRECTIONAL)


def check_abilities(card: dict[str, Any], needed: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError where the model of `card` lacks one of the ABILITIES in `needed`.

    `needed` gives the chapters that need each ability.
    """
    model = next(card["source"][key] for key in ("path", "package", "hub") if key in card["source"])
    for ability, chapters in needed.items():
        if ability in TOKENS and card["special"][ability] is None:
            lack = f"{TOKENS[ability]}; the tokenizer in {model} has none"
            lack += "" if ability == "mask" else ", or leaves it out of texts or pairs"
        elif ability == BIDIRECTIONAL and not card.get(BIDIRECTIONAL, True):
            lack = f"attention in both directions; in {model} no token attends to later ones"
        else:
            continue
        users = " and ".join(chapters)
        needs = "needs" if len(chapters) == 1 else "need"
        raise InputError(f"{users} {needs} {lack}: use another model or remove {users}")
