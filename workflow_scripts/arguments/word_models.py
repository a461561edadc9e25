"""The word-vector families: a bag of vectors (BoV) and a BiLSTM, as in the released code.

Both take the largest value of each dimension over a text's words and put the argument's and the
warrant's vectors side by side before a linear layer to one logit. The argument's part adds the
same to both warrants' logits, so that it cancels in the softmax: such a model cannot use claim
and reason, whatever it is trained on.
"""

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

from workflow_scripts.arguments.argument_training import Family, Texts
from workflow_scripts.arguments.setups import SETUPS
from workflow_scripts.arguments.wording import words
from workflow_scripts.core.data.arct import TEXTS
from workflow_scripts.core.data.word_vectors import Vectors, read_vectors

log = logging.getLogger(__name__)
PADDING = 0
WEIGHTS, POINT = "model.safetensors", "point.json"
Encoded = list[list[int]]  # word numbers of each text, the warrant last


def embedding(vectors: Vectors, vocabulary: Sequence[str], seed: int) -> np.ndarray:
    """Vectors of the vocabulary below one of zeros for padding, float32 [1 + word, dimension].

    A word without a vector gets a random one of the same spread, so that words stay distinct.
    """
    found = vectors.lookup(vocabulary)
    missing = np.array([word not in vectors for word in vocabulary], dtype=bool)
    drawn = np.random.default_rng(seed).normal(0, vectors.matrix.std(), found.shape)
    found[missing] = drawn[missing]
    return np.concatenate([np.zeros((1, found.shape[1])), found]).astype(np.float32)


class Bags(nn.Module):
    """The word-vector models; with `sequence`, a BiLSTM runs over each text first.

    Without it, the texts before the warrant are one bag. `point` has dropout, and hidden units.
    """

    def __init__(
        self,
        matrix: np.ndarray,
        n_texts: int,
        point: dict[str, Any],
        tune: bool,
        sequence: bool,
    ) -> None:
        super().__init__()
        self.point = point
        weights = torch.tensor(matrix)  # a copy: tuned vectors stay with their model
        self.embedding = nn.Embedding.from_pretrained(weights, freeze=not tune, padding_idx=PADDING)
        width = matrix.shape[1]
        self.encoder = None
        if sequence:
            size = point["hidden"]
            self.encoder = nn.LSTM(width, size, batch_first=True, bidirectional=True)
            width = 2 * size
        n_parts = n_texts if sequence else min(n_texts, 2)
        self.dropout = nn.Dropout(point["dropout"])
        self.linear = nn.Linear(n_parts * width, 1)

    def forward(self, texts: Sequence[Encoded]) -> torch.Tensor:
        """Logits [text]."""
        if self.encoder is None:
            texts = [_one_bag(one) for one in texts]
        parts = [self._largest([one[k] for one in texts]) for k in range(len(texts[0]))]
        return self.linear(self.dropout(torch.cat(parts, dim=1)))[:, 0]

    def _largest(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """The largest value of each dimension over each row's words, [row, width]."""
        lengths = torch.tensor([max(1, len(row)) for row in rows])
        ids = torch.full((len(rows), int(lengths.max())), PADDING)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row, dtype=torch.long)
        ids = ids.to(self.linear.weight.device)
        states = self.embedding(ids)
        if self.encoder is not None:
            packed = nn.utils.rnn.pack_padded_sequence(
                states, lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        beyond = torch.arange(ids.shape[1]) >= lengths[:, None]
        return states.masked_fill(beyond.to(states.device)[..., None], -torch.inf).amax(dim=1)


def save_bags(model: Bags, directory: Path) -> None:
    """Save the weights, and the point of the grid that they belong to."""
    directory.mkdir(parents=True)
    save_file(
        {name: one.contiguous().cpu() for name, one in model.state_dict().items()},
        directory / WEIGHTS,
    )
    (directory / POINT).write_text(json.dumps(model.point), encoding="utf-8")


def _one_bag(texts: Encoded) -> Encoded:
    """The words before the warrant as one list."""
    return [list(chain(*texts[:-1])), texts[-1]] if len(texts) > 1 else texts


def vocabulary_of(texts: Sequence[str]) -> list[str]:
    """The distinct words of the texts, in alphabetical order."""
    return sorted({word.form for text in texts for word in words(text)})


def family_of(
    name: str, frame: pd.DataFrame, vectors: Path, names: Path, settings: dict[str, Any]
) -> Family:
    """`bov` or `bilstm` for the words of a table of points; settings: tune_vectors."""
    texts = [text for column in TEXTS for text in frame[column].unique()]
    known, vocabulary = read_vectors(vectors, names), vocabulary_of(texts)
    missing = sum(word not in known for word in vocabulary)
    log.info("%d words, %d of them without a vector", len(vocabulary), missing)
    return word_family(name, known, vocabulary, settings["tune_vectors"])


def word_family(
    name: str, vectors: Vectors, vocabulary: Sequence[str], tune: bool, seed: int = 1
) -> Family:
    """`bov` or `bilstm` on these word vectors; `seed` draws those that are missing."""
    place = {word: number for number, word in enumerate(vocabulary, start=1)}
    matrix = embedding(vectors, vocabulary, seed)
    sequence = name == "bilstm"

    def encode(texts: Texts) -> Encoded:
        return [
            [place.get(word.form, PADDING) for word in words(one)] for one in (*texts[0], texts[1])
        ]

    def new(setup: str, point: dict[str, Any], its_seed: int) -> nn.Module:
        torch.manual_seed(its_seed)
        n_texts = len(SETUPS[setup]) + 1
        return Bags(matrix, n_texts, point, tune, sequence)

    def load(directory: Path, setup: str, device: torch.device) -> nn.Module:
        point = json.loads((directory / POINT).read_text(encoding="utf-8"))
        model = new(setup, point, 0)
        model.load_state_dict(load_file(directory / WEIGHTS))
        return model.to(device).eval()

    return Family(
        name=name,
        encode=encode,
        length=lambda texts: sum(len(one) for one in texts),
        new=new,
        score=lambda model, texts: model(texts),
        save=save_bags,
        load=load,
    )
