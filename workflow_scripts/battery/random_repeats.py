"""Roles of heads on random tokens that are repeated (Olsson et al. 2022), each against a null.

In the second copy of a sequence of L tokens, the previous token, the earlier copy of the token and
the token after that copy are 1, L and L - 1 tokens back from every query.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.battery.head_roles import compared, with_role
from workflow_scripts.battery.inputs import read_sequences
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.measures.one_pass import Units
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, per_head


@dataclass(frozen=True)
class Places:
    """Queries of a text and, for each, the keys at several places relative to it.

    `queries` int [query], `keys` int [query, place]; positions in the text, from 0.
    """

    queries: np.ndarray
    keys: np.ndarray


class MeanWeights(attention.Capture):
    """Collects for each text of a batch its `places`' mean weights, instead of the patterns."""

    def __init__(self, sets: Sequence[Sequence[Places]]) -> None:
        super().__init__()
        self.sets = sets  # of each text
        self.by_layer: dict[int, np.ndarray] = {}  # [text, head, place], of all sets

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        super().pattern(layer, pattern, real)  # which checks the rows
        del self.calls[layer]
        self.by_layer[layer] = np.stack(
            [
                np.concatenate([means(row, places) for places in sets], axis=-1)
                for row, sets in zip(pattern, self.sets, strict=True)
            ]
        )
        return pattern


def means(pattern: torch.Tensor, places: Places) -> np.ndarray:
    """Mean weight over the queries, or NaN, float64 [head, place] of [head, query, key]."""
    queries = torch.from_numpy(places.queries).to(pattern.device)
    keys = torch.from_numpy(places.keys).to(pattern.device)
    return pattern[:, queries[:, None], keys].cpu().double().mean(dim=1).numpy()


def mean_weights(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    sets: Sequence[Sequence[Places]],
    batch_tokens: int,
) -> list[np.ndarray]:
    """For each set of queries, float64 [text, layer, head, place]: mean weights of an opened model.

    `sets` has one or several for each text; a set has as many places in every text.
    """
    n_places = [each.keys.shape[1] for each in sets[0]]
    shape = attention.n_layers(model), attention.n_heads(model), sum(n_places)
    result = np.full((len(tokens), *shape), np.nan)
    batches = running.by_length([len(text) for text in tokens], batch_tokens)
    for batch in job.progress(batches, desc="attention"):
        reader = MeanWeights([sets[index] for index in batch])
        with torch.inference_mode(), running.OneDNN(), attention.watching(model, reader):
            model(**running.pad([tokens[index] for index in batch], model))
        for layer, of_layer in reader.by_layer.items():
            result[batch, layer] = of_layer
    return np.split(result, np.cumsum(n_places)[:-1], axis=-1)


def second_copy(length: int) -> Places:
    """The queries of the second copy, all `length` of them, and the keys 0 to `length` tokens back.

    Position 0 is the start token, which is no key of any query.
    """
    queries = np.arange(1 + length, 1 + 2 * length)
    return Places(queries, queries[:, None] - np.arange(1 + length))


def offsets_of(length: int) -> dict[str, int]:
    """How many tokens back each role's token is, in copies of `length` tokens."""
    return {"previous": 1, "duplicate": length, "induction": length - 1}


def scores(
    weights: np.ndarray, length: int, threshold: float, bootstrap: int, seed: int
) -> pd.DataFrame:
    """One row per role and head of weights [sequence, layer, head, offset].

    `score` is the mean over sequences with a 95% bootstrap interval over them. `others` is the mean
    weight at all other offsets and `best_other` that at the best of them, `best_offset` tokens
    back; p and p_corrected are those of score minus best_other over sequences. A head `has_role`
    where p_corrected is below LEVEL, the score larger than best_other and above `threshold`.
    `uniform` is the score of attention to all visible tokens alike.
    """
    roles = compared(weights, range(1 + length), offsets_of(length))
    own = {name: found.score for name, found in roles.items()}
    frame = per_head(own, "role", "score", bootstrap, seed, INDEPENDENT)
    found = roles.values()
    frame = frame.assign(
        others=np.concatenate([role.others.mean(axis=0).ravel() for role in found]),
        best_other=np.concatenate([role.best.mean(axis=0).ravel() for role in found]),
        best_offset=np.concatenate([role.best_place.ravel() for role in found]),
        uniform=float(np.mean(1 / (1 + second_copy(length).queries))),
    )
    differences = np.stack([role.score - role.best for role in found], axis=1)
    above = (frame["score"] > frame["best_other"]) & (frame["score"] > threshold)
    return with_role(frame, differences, above)


def main(
    model: Path,
    sequences: Path,
    random: job.Out,
    threshold: float,
    bootstrap: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the scores of every head and role."""
    weights, length = read_weights(model, sequences, batch_tokens, device)
    tables.write(scores(weights, length, threshold, bootstrap, seed), random)


def units(model: Path, sequences: Path, batch_tokens: int = 4096, device: str = "auto") -> Units:
    """Each role's scores of the sequences, [sequence, layer, head], for comparisons of models."""
    weights, length = read_weights(model, sequences, batch_tokens, device)
    return {
        role: (weights[..., of], np.ones(len(weights), int))
        for role, of in offsets_of(length).items()
    }


def read_weights(
    model: Path, sequences: Path, batch_tokens: int, device: str
) -> tuple[np.ndarray, int]:
    """`mean_weights` of the second copies in sequences, and the length of a copy."""
    body = models.load_body(models.directory_of(read_card(model)), running.pick_device(device))
    attention.open_attention(body)
    ids = read_sequences(sequences)
    length = ids.shape[1] // 2
    places = [[second_copy(length)]] * len(ids)
    (weights,) = mean_weights(body, as_tokens(ids), places, batch_tokens)
    return weights, length


def as_tokens(ids: np.ndarray) -> list[Tokens]:
    """Ids [sequence, token] as the texts of a batch, each token a word but the first."""
    word = np.arange(-1, ids.shape[1] - 1, dtype=np.int32)
    segment, n_words = np.zeros(len(word), np.int8), len(word) - 1
    return [
        Tokens(str(number), row.astype(np.int32), word, segment, n_words)
        for number, row in enumerate(ids)
    ]


if __name__ == "__main__":
    job.run(main, globals())
