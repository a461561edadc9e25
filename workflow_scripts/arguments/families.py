"""Families of models by name: BERT from a pretrained model, BoV and BiLSTM from word vectors."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.arguments.argument_training import Family
from workflow_scripts.arguments.word_models import read_word_family
from workflow_scripts.core.data.cards import read_card


def open_family(
    name: str,
    settings: dict[str, Any],
    points: pd.DataFrame,
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> Family:
    """`bert` of the model card `model`; `bov` or `bilstm` of `vectors` and their `words`.

    `settings` are the family's in the config; the vocabulary is that of the `points`.
    """
    if name == "bert":
        from workflow_scripts.arguments.bert import bert_family  # transformers, 4 s: BERT alone

        return bert_family(read_card(model), settings)
    return read_word_family(name, points, vectors, words, settings["tune_vectors"])
