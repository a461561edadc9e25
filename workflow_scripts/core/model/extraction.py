"""Attention patterns of a corpus, streamed from a model to a cache."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import torch

from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import attention, devices, padding
from workflow_scripts.core.model.batches import by_length, part_of
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.model.value_norms import ValueNorms, weighted
from workflow_scripts.core.run import job

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def extract(
    model: "PreTrainedModel",
    tokens: Sequence[Tokens],
    path: Path,
    meta: dict[str, Any],
    batch_tokens: int = 4096,
    precision: str = "float32",
    part: str | None = None,
) -> None:
    """Write the pattern of every example to a cache at `path`; with `part`, a shard of it.

    Memory is that of one layer of one batch: at most `batch_tokens` tokens of neighbouring lengths.
    """
    numbers = None
    if part is not None:
        numbers = part_of([len(example) for example in tokens], batch_tokens, part)
        tokens = [tokens[number] for number in numbers]
    shape = attention.n_layers(model), attention.n_heads(model)
    marks = [] if attention.is_bidirectional(model) else ["triangular"]
    marks += ["sinks"] if attention.has_sinks(model) else []
    with CacheWriter(path, tokens, *shape, meta, numbers, marks) as writer:
        stream(model, tokens, batch_tokens, precision, writer.write_layer)


def stream(
    model: "PreTrainedModel",
    tokens: Sequence[Tokens],
    batch_tokens: int,
    precision: str,
    hand: Callable[[int, int, np.ndarray, np.ndarray | None], None],
    grams: torch.Tensor | None = None,
) -> None:
    """Hand on each example's pattern as it is computed: its index, layer, pattern and `outside`.

    Those are float16 [head, query, key] and, of a model with sinks, float32 [head, query].
    With `grams`, those of `output_grams`, the pattern has each key's share of the norms instead.
    """
    lengths = [len(example) for example in tokens]
    for batch in job.progress(by_length(lengths, batch_tokens), desc="attention"):

        def each(
            layer: int, patterns: np.ndarray, outside: np.ndarray | None, batch: np.ndarray = batch
        ) -> None:
            for row, index in enumerate(batch):
                n = lengths[index]
                missing = None if outside is None else outside[row, :, :n]
                hand(int(index), layer, patterns[row, :, :n, :n], missing)

        run(model, [tokens[index] for index in batch], precision, each, grams)


def run(
    model: "PreTrainedModel",
    tokens: Sequence[Tokens],
    precision: str,
    hand: Callable[[int, np.ndarray, np.ndarray | None], None],
    grams: torch.Tensor | None = None,
) -> None:
    """Hand on the patterns of one padded batch, layer by layer; with `grams`, as `stream` does.

    Those are float16 [batch, head, query, key]. Of a model with sinks, `outside` is what each query
    gives to no token, float32 [batch, head, query], from weights that are not yet rounded.
    """

    def shares(layer: int, pattern: torch.Tensor, norms: torch.Tensor) -> None:
        hand(layer, weighted(pattern, norms).to(torch.float16).cpu().numpy(), None)

    watcher = (
        _HandOn(hand, attention.has_sinks(model)) if grams is None else ValueNorms(grams, shares)
    )
    with (
        torch.inference_mode(),
        OneDNN(),
        devices.autocast(model.device, precision),
        attention.watching(model, watcher),
    ):
        model(**padding.pad(tokens, model))


class _HandOn(attention.Capture):
    """Hands on each layer of a pass and keeps none."""

    def __init__(self, hand: Callable, sinks: bool) -> None:
        super().__init__(dtype=torch.float16)
        self._hand, self._with_sinks = hand, sinks

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        pattern = super().pattern(layer, pattern, real)
        outside = None
        if self._with_sinks:
            outside = (1 - pattern.sum(dim=-1)).clamp(min=0).float().cpu().numpy()
        (rounded,) = self.calls.pop(layer)
        self._hand(layer, rounded.cpu().numpy(), outside)
        return pattern


def forward(model: "PreTrainedModel", tokens: Sequence[Tokens], precision: str) -> np.ndarray:
    """Patterns of one padded batch: float16 [layer, batch, head, query, key]."""
    layers: list[np.ndarray] = []
    run(model, tokens, precision, lambda layer, patterns, outside: layers.append(patterns))
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
