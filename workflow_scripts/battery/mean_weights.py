"""Mean attention of queries to chosen keys, read during a forward pass; no pattern is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import attention, padding
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.run import job


@dataclass(frozen=True)
class Places:
    """Queries of a text and, for each, the keys at several places relative to it.

    `queries` int [query], `keys` int [query, place]; positions in the text, from 0.
    """

    queries: np.ndarray
    keys: np.ndarray


class MeanWeights(attention.Capture):
    """Collects for each text of a batch its `places`' mean weights, instead of the patterns."""

    def __init__(self, places: Sequence[Places]) -> None:
        """`places` holds those of each text of the next forward pass."""
        super().__init__()
        self.places = places
        self.means: dict[int, np.ndarray] = {}  # by layer: [text, head, place]

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        super().pattern(layer, pattern, real)  # which checks the rows
        del self.calls[layer]
        self.means[layer] = np.stack(
            [means(row, places) for row, places in zip(pattern, self.places, strict=True)]
        )
        return pattern


def means(pattern: torch.Tensor, places: Places) -> np.ndarray:
    """Mean weight over the queries at each place, float64 [head, place] of [head, query, key].

    NaN where a text has no query.
    """
    queries = torch.from_numpy(places.queries).to(pattern.device)
    keys = torch.from_numpy(places.keys).to(pattern.device)
    return pattern[:, queries[:, None], keys].cpu().double().mean(dim=1).numpy()


def mean_weights(
    model: PreTrainedModel, tokens: Sequence[Tokens], places: Sequence[Places], batch_tokens: int
) -> np.ndarray:
    """Each text's mean weights, float64 [text, layer, head, place], of an opened model.

    One layer of one batch is in memory: at most `batch_tokens` tokens.
    """
    shape = attention.n_layers(model), attention.n_heads(model), places[0].keys.shape[1]
    result = np.full((len(tokens), *shape), np.nan)
    batches = by_length([len(text) for text in tokens], batch_tokens)
    for batch in job.progress(batches, desc="attention"):
        reader = MeanWeights([places[index] for index in batch])
        with torch.inference_mode(), OneDNN(), attention.watching(model, reader):
            model(**padding.pad([tokens[index] for index in batch], model))
        for layer, of_layer in reader.means.items():
            result[batch, layer] = of_layer
    return result
