"""The family of models on ARCT that start from a pretrained one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.arguments.argument_training import Family, Hyperparameters, Texts
from workflow_scripts.arguments.wording import as_text
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import load_scorer, new_scorer, save_scorer


def to_tokens(
    texts: Texts, tokenizer: FastTokenizer, max_tokens: int, max_positions: int
) -> Tokens:
    """One warrant with its argument as wordpieces; the warrant alone is one segment."""
    argument, warrant = texts
    pair = (as_text(argument), warrant) if argument else (warrant,)
    example = Example(warrant, warrant, f"arct: {warrant!r}", pair)
    return tokenize([example], tokenizer, max_tokens, max_positions)[0]


def bert_family(card: dict[str, Any], settings: dict[str, Any]) -> Family:
    """The family of the pretrained model that a card describes."""
    directory: Path = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)

    def encode(texts: Texts) -> Tokens:
        return to_tokens(texts, tokenizer, settings["max_tokens"], card["max_positions"])

    def new(setup: str, hyperparameters: Hyperparameters, seed: int) -> nn.Module:
        try:
            return new_scorer(directory, seed, settings["pooler"])
        except InputError as error:
            raise InputError(f"arguments.bert.pooler: {error}") from None

    def score(model: nn.Module, tokens: Sequence[Tokens]) -> torch.Tensor:
        return model(**running.pad(tokens, model)).logits[:, 0]

    return Family(
        name="bert",
        encode=encode,
        length=len,
        new=new,
        score=score,
        save=save_scorer,
        load=lambda directory, setup, device: load_scorer(directory, device),
        weight_decay=settings["weight_decay"],
        warmup=settings["warmup"],
    )
