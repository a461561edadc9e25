"""The parser behind silver annotation: a spaCy model package."""

from typing import Any

from workflow_scripts.core.run.errors import InputError


def load_spacy(model: str) -> Any:
    """The spaCy pipeline of an installed model package."""
    import spacy

    try:
        return spacy.load(model, disable=["ner"])
    except OSError as error:
        raise InputError(
            f"spacy: {model}: no such model package; install it with pip or name another"
        ) from error
