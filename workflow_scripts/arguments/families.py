"""Families of models by name: BERT from a pretrained model, BoV and BiLSTM from word vectors."""

import json
import logging
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.arguments.argument_training import Family, Hyperparameters, Texts
from workflow_scripts.arguments.wording import SETUPS, as_text, words
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import ARCT_TEXTS
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.data.vectors import Vectors, read_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import load_scorer, new_scorer, save_scorer

log = logging.getLogger(__name__)
PADDING = 0
WEIGHTS, ABOUT, EMBEDDING = "model.safetensors", "point.json", "embedding.weight"
Encoded = list[list[int]]  # word numbers of each text, the warrant last


def open_family(
    name: str,
    settings: dict[str, Any],
    points: pd.DataFrame,
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
) -> Family:
    """`bert` of the card `model`; `bov` or `bilstm` of `vectors` and `words` for these `points`."""
    if name == "bert":
        return bert_family(read_card(model), settings)
    known = read_vectors(vectors, words)
    vocabulary = vocabulary_of([text for column in ARCT_TEXTS for text in points[column].unique()])
    missing = sum(word not in known for word in vocabulary)
    log.info("%d words, %d of them without a vector", len(vocabulary), missing)
    return word_family(name, known, vocabulary, settings["tune_vectors"])


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


def embedding(vectors: Vectors, vocabulary: Sequence[str]) -> np.ndarray:
    """Vectors of the vocabulary below one of zeros for padding, float32 [1 + word, dimension].

    A word without a vector gets a random one of the same spread, so that words stay distinct: its
    own, whatever other words there are.
    """
    matrix, spread = vectors.lookup(vocabulary), vectors.matrix.std()
    for row, word in enumerate(vocabulary):
        if word not in vectors:
            rng = np.random.default_rng([1, *word.encode()])
            matrix[row] = rng.normal(0, spread, matrix.shape[1])
    return np.concatenate([np.zeros((1, matrix.shape[1])), matrix]).astype(np.float32)


class Bags(nn.Module):
    """With `sequence` a BiLSTM over each text; else those before the warrant are one bag."""

    def __init__(
        self,
        matrix: np.ndarray,
        n_texts: int,
        hyperparameters: Hyperparameters,
        tune: bool,
        sequence: bool,
    ) -> None:
        super().__init__()
        self.hyperparameters = hyperparameters
        weights = torch.tensor(matrix)  # a copy: tuned vectors stay with their model
        self.embedding = nn.Embedding.from_pretrained(weights, freeze=not tune, padding_idx=PADDING)
        width = matrix.shape[1]
        self.encoder = None
        if sequence:
            size = hyperparameters["hidden"]
            self.encoder = nn.LSTM(width, size, batch_first=True, bidirectional=True)
            width = 2 * size
        n_parts = n_texts if sequence else min(n_texts, 2)
        self.dropout = nn.Dropout(hyperparameters["dropout"])
        self.linear = nn.Linear(n_parts * width, 1)

    def forward(self, texts: Sequence[Encoded]) -> torch.Tensor:
        """Logits [text]."""
        if self.encoder is None and len(texts[0]) > 1:  # what is before the warrant as one bag
            texts = [[list(chain(*text[:-1])), text[-1]] for text in texts]
        parts = [self._largest([text[k] for text in texts]) for k in range(len(texts[0]))]
        return self.linear(self.dropout(torch.cat(parts, dim=1)))[:, 0]

    def _largest(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """The largest value of each dimension over each row's words, [row, width]."""
        lengths = torch.tensor([max(1, len(row)) for row in rows])
        padded = [torch.tensor([*row] or [PADDING], dtype=torch.long) for row in rows]
        ids = nn.utils.rnn.pad_sequence(padded, batch_first=True, padding_value=PADDING)
        ids = ids.to(self.linear.weight.device)
        states = self.embedding(ids)
        if self.encoder is not None:
            packed = nn.utils.rnn.pack_padded_sequence(
                states, lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        beyond = torch.arange(ids.shape[1]) >= lengths[:, None]
        return states.masked_fill(beyond.to(states.device)[..., None], -torch.inf).amax(dim=1)


def vocabulary_of(texts: Sequence[str]) -> list[str]:
    """The distinct words of the texts, in alphabetical order."""
    return sorted({word.form for text in texts for word in words(text)})


def word_family(name: str, vectors: Vectors, vocabulary: Sequence[str], tune: bool) -> Family:
    """`bov` or `bilstm` on these word vectors."""
    number_of = {word: number for number, word in enumerate(vocabulary, start=1)}
    matrix = embedding(vectors, vocabulary)
    sequence = name == "bilstm"

    def encode(texts: Texts) -> Encoded:
        argument, warrant = texts
        return [
            [number_of.get(word.form, PADDING) for word in words(text)]
            for text in (*argument, warrant)
        ]

    def new(setup: str, hyperparameters: Hyperparameters, model_seed: int) -> nn.Module:
        torch.manual_seed(model_seed)
        n_texts = len(SETUPS[setup]) + 1
        return Bags(matrix, n_texts, hyperparameters, tune, sequence)

    def save(model: Bags, directory: Path) -> None:
        """The weights, and the words and hyperparameters that they were trained with."""
        directory.mkdir(parents=True)
        state = {name: weights.contiguous().cpu() for name, weights in model.state_dict().items()}
        save_file(state, directory / WEIGHTS)
        about = {"vocabulary": [*vocabulary], "hyperparameters": model.hyperparameters}
        (directory / ABOUT).write_text(json.dumps(about), encoding="utf-8")

    def load(directory: Path, setup: str, device: torch.device) -> nn.Module:
        """A saved model; words that it was trained without have the vectors of this family."""
        about = json.loads((directory / ABOUT).read_text(encoding="utf-8"))
        model, state = new(setup, about["hyperparameters"], 0), load_file(directory / WEIGHTS)
        of_words, trained = model.embedding.weight.detach().clone(), state[EMBEDDING]
        for row, word in enumerate(about["vocabulary"], start=1):
            if word in number_of:
                of_words[number_of[word]] = trained[row]
        model.load_state_dict(state | {EMBEDDING: of_words})
        return model.to(device).eval()

    return Family(
        name=name,
        encode=encode,
        length=lambda texts: sum(map(len, texts)),
        new=new,
        score=lambda model, texts: model(texts),
        save=save,
        load=load,
    )
