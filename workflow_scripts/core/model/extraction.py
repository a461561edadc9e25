"""Attention patterns of a corpus, streamed from a model to a cache or computed as they are read."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cache import FLAT, CacheWriter, offsets
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.head_maps import ValueNorms, output_grams, weighted
from workflow_scripts.core.run import job


def read(device: str, card: str, corpus: str, max_tokens: int) -> tuple[PreTrainedModel, list]:
    """The opened model of a card and the tokens of a corpus."""
    about, examples = read_card(Path(card)), read_examples(Path(corpus))
    tokenizer = models.load_tokenizer(models.directory_of(about))
    tokens = tokenize(examples, tokenizer, max_tokens, about["max_positions"])
    return _opened(device, card), tokens


@cache
def _opened(device: str, card: str) -> PreTrainedModel:
    """Loaded once, however many corpora it reads."""
    directory = models.directory_of(read_card(Path(card)))
    return attention.open_attention(models.load_body(directory, running.pick_device(device)))


def extract(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    path: Path,
    meta: dict[str, Any],
    batch_tokens: int = 4096,
    precision: str = "float32",
    part: str | None = None,
) -> None:
    """Write the pattern of every example to a cache at `path`; with `part`, a shard of it."""
    numbers = None
    if part is not None:
        numbers = running.part_of([len(example) for example in tokens], batch_tokens, part)
        tokens = [tokens[number] for number in numbers]
    shape = attention.n_layers(model), attention.n_heads(model)
    marks = [] if attention.is_bidirectional(model) else ["triangular"]
    marks += ["sinks"] if attention.has_sinks(model) else []
    with CacheWriter(path, tokens, *shape, meta, numbers, marks) as writer:
        stream(model, tokens, batch_tokens, precision, writer.write_layer)


def stream(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    batch_tokens: int,
    precision: str,
    hand: Callable[[int, int, np.ndarray, np.ndarray | None], None],
    grams: torch.Tensor | None = None,
) -> None:
    """Hand on each example's index, layer, pattern and `outside`, unpadded, as `run` does."""
    lengths = [len(example) for example in tokens]
    for batch in job.progress(running.by_length(lengths, batch_tokens), desc="attention"):

        def each(
            layer: int, patterns: np.ndarray, outside: np.ndarray | None, batch: np.ndarray = batch
        ) -> None:
            for row, index in enumerate(batch):
                n = lengths[index]
                missing = None if outside is None else outside[row, :, :n]
                hand(int(index), layer, patterns[row, :, :n, :n], missing)

        run(model, [tokens[index] for index in batch], precision, each, grams)


def run(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    precision: str,
    hand: Callable[[int, np.ndarray, np.ndarray | None], None],
    grams: torch.Tensor | None = None,
) -> None:
    """Hand on the patterns of one padded batch, float16 [batch, head, query, key], layer by layer.

    Of a model with sinks, `outside` is what each query gives to no token, float32 [batch, head,
    query], from weights that are not yet rounded. With `grams`, those of `output_grams`, the
    pattern has each key's share of the norms instead.
    """

    def shares(layer: int, pattern: torch.Tensor, norms: torch.Tensor) -> None:
        hand(layer, weighted(pattern, norms).to(torch.float16).cpu().numpy(), None)

    watcher = _HandOn(hand) if grams is None else ValueNorms(grams, shares)
    with (
        torch.inference_mode(),
        running.OneDNN(),
        running.autocast(model.device, precision),
        attention.watching(model, watcher),
    ):
        model(**running.pad(tokens, model))


class _HandOn(attention.Capture):
    """Hands on each layer of a pass and keeps none."""

    def __init__(self, hand: Callable) -> None:
        super().__init__()
        self._hand = hand

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        pattern = super().pattern(layer, pattern, real)
        outside = None
        if self._sinks:
            outside = (1 - pattern.sum(dim=-1)).clamp(min=0).float().cpu().numpy()
        del self.calls[layer]
        self._hand(layer, pattern.to(torch.float16).cpu().numpy(), outside)
        return pattern


def forward(model: PreTrainedModel, tokens: Sequence[Tokens]) -> np.ndarray:
    """Patterns of one padded batch: float16 [layer, batch, head, query, key]."""
    layers: list[np.ndarray] = []
    run(model, tokens, "float32", lambda layer, patterns, outside: layers.append(patterns))
    return np.stack(layers)


def meta_of(card: dict[str, Any], corpus: Path, precision: str) -> dict[str, Any]:
    """What identifies a cache: model, corpus, precision and versions."""
    return {
        "model": card["name"],
        "weights": card["weights"],
        "corpus": hashlib.sha256(corpus.read_bytes()).hexdigest(),
        "precision": precision,
        "versions": card["versions"] | {"h5py": h5py.__version__},
    }


class Computed(Patterns):
    """The patterns of a corpus, computed by an opened model as they are read.

    Random access runs the model on the batch of the example; `each` gives one layer of one example
    at a time. With `by_norm`, weights are as those of `head_maps.weighted`.
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
        self._tokens = {}
        for name, dtype in FLAT.items():
            each = (getattr(example, name) for example in tokens)
            self._tokens[name] = np.concatenate([np.empty(0, dtype), *each]).astype(dtype)
        self._model, self._examples = model, tokens
        self._settings = batch_tokens, precision
        self._grams = output_grams(model) if by_norm else None

    def __getitem__(self, index: int) -> CachedExample:
        index = range(len(self))[index]
        batches = running.by_length([len(example) for example in self._examples], self._settings[0])
        batch = next(batch for batch in batches if index in batch)
        layers, missing = [], []

        def keep(at: int, layer: int, pattern: np.ndarray, outside: np.ndarray | None) -> None:
            if batch[at] == index:
                layers.append(pattern.copy())
                missing.append(outside)

        tokens = [self._examples[each] for each in batch]
        stream(self._model, tokens, *self._settings, keep, self._grams)
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
