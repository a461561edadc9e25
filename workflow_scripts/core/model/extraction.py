"""Attention patterns of a corpus, streamed from a model to a cache."""

import hashlib
from collections.abc import Sequence
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

    One batch at a time is in memory: at most `batch_tokens` tokens of neighbouring lengths.
    """
    n_layers, n_heads = attention.n_layers(model), attention.n_heads(model)
    numbers = None
    if part is not None:
        numbers = part_of([len(example) for example in tokens], batch_tokens, part)
        tokens = [tokens[number] for number in numbers]
    batches = by_length([len(example) for example in tokens], batch_tokens)
    with CacheWriter(path, tokens, n_layers, n_heads, meta, numbers) as writer:
        for batch in job.progress(batches, desc="attention"):
            chosen = {int(index): tokens[index] for index in batch}
            _write(writer, chosen, forward(model, list(chosen.values()), precision))


def _write(writer: CacheWriter, examples: dict[int, Tokens], patterns: np.ndarray) -> None:
    """Store a batch; a function of its own, so that no batch is in memory with the next."""
    for row, (index, example) in enumerate(examples.items()):
        length = len(example)
        writer.write(index, patterns[:, row, :, :length, :length])


def forward(model: "PreTrainedModel", tokens: Sequence[Tokens], precision: str) -> np.ndarray:
    """Patterns of one padded batch: float16 [layer, batch, head, query, key]."""
    batch = padding.pad(tokens, model)
    capture = attention.Capture(dtype=torch.float16)
    with (
        torch.inference_mode(),
        OneDNN(),
        devices.autocast(model.device, precision),
        attention.watching(model, capture),
    ):
        model(**batch)
    return np.stack([pattern.cpu().numpy() for pattern in capture.patterns])


def meta_of(card: dict[str, Any], corpus: Path, precision: str) -> dict[str, Any]:
    """What identifies a cache: model, corpus, precision and versions."""
    return {
        "model": card["name"],
        "weights": card["weights"],
        "corpus": hashlib.sha256(corpus.read_bytes()).hexdigest(),
        "precision": precision,
        "versions": card["versions"] | {"h5py": h5py.__version__},
    }
