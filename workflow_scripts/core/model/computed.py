"""Patterns as a model computes them, for measures of attention that is not stored.

Batches, padding and rounding are those of the extraction, so that all is equal to a cache bit for
bit. Only one layer of one batch is in memory: every measure has read it before the next begins.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from workflow_scripts.core.data.cache_format import FLAT, offsets
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.extraction import run, stream
from workflow_scripts.core.model.value_norms import output_grams


class Computed(Patterns):
    """The patterns of a corpus, computed by an opened model as they are read.

    Random access runs the model on the batch of the example; `each` gives one layer of one example
    at a time. `path` is that of the corpus. With `by_norm`, the weights of a query are each key's
    share of the norms of what heads read (`value_norms.weighted`).
    """

    def __init__(
        self,
        path: Path,
        model: PreTrainedModel,
        tokens: Sequence[Tokens],
        batch_tokens: int = 4096,
        precision: str = "float32",
        by_norm: bool = False,
    ) -> None:
        self.path, self.ids = path, [example.id for example in tokens]
        self.n_layers, self.n_heads = attention.n_layers(model), attention.n_heads(model)
        self.bidirectional = attention.is_bidirectional(model)
        self._token_offsets = offsets(np.array([len(example) for example in tokens], np.int64))
        self._tokens = {
            name: np.concatenate(
                [np.empty(0, dtype), *(getattr(each, name) for each in tokens)]
            ).astype(dtype)
            for name, dtype in FLAT.items()
        }
        self._model, self._examples = model, tokens
        self._settings = batch_tokens, precision
        self._grams = output_grams(model) if by_norm else None

    def __getitem__(self, index: int) -> CachedExample:
        batch_tokens, precision = self._settings
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        batches = by_length([len(example) for example in self._examples], batch_tokens)
        batch = next(batch for batch in batches if index in batch)
        row, n = batch.tolist().index(index), len(self._examples[index])
        layers: list[np.ndarray] = []
        missing: list[np.ndarray | None] = []

        def keep(layer: int, patterns: np.ndarray, outside: np.ndarray | None) -> None:
            layers.append(patterns[row, :, :n, :n].copy())
            missing.append(None if outside is None else outside[row, :, :n])

        run(self._model, [self._examples[each] for each in batch], precision, keep, self._grams)
        return self._example(index, slice(None), np.stack(layers), missing)

    def each(self, update: Callable[[CachedExample], None], n: int | None = None) -> None:
        def hand(index: int, layer: int, pattern: np.ndarray, outside: np.ndarray | None) -> None:
            layers = np.ascontiguousarray(pattern)[None]
            update(self._example(index, slice(layer, layer + 1), layers, [outside]))

        stream(self._model, self._examples, *self._settings, hand, self._grams)

    def _example(
        self,
        index: int,
        layers: slice,
        pattern: np.ndarray,
        outside: Sequence[np.ndarray | None],
    ) -> CachedExample:
        flat = {name: values.copy() for name, values in self.tokens(index).items()}
        missing = None if outside[0] is None else np.stack(outside)
        about = {"id": self.ids[index], "index": index, "layers": layers, "outside": missing}
        return CachedExample(pattern=pattern, **about, **flat)
