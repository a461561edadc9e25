"""Attention maps of a corpus, or of one shard of it, streamed to an HDF5 cache."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import torch

from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import attention, devices, models, padding
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def extract(
    model: "PreTrainedModel",
    tokens: Sequence[Tokens],
    path: Path,
    meta: dict[str, Any],
    batch_tokens: int = 4096,
    precision: str = "float32",
) -> None:
    """Write the pattern of every example to a cache at `path`.

    One batch at a time is in memory: at most `batch_tokens` tokens of neighbouring lengths.
    """
    n_layers, n_heads = attention.n_layers(model), attention.n_heads(model)
    batches = by_length([len(one) for one in tokens], batch_tokens)
    with CacheWriter(path, tokens, n_layers, n_heads, meta) as writer:
        for batch in job.progress(batches, desc="attention"):
            patterns = forward(model, [tokens[index] for index in batch], precision)
            for row, index in enumerate(batch):
                length = len(tokens[index])
                writer.write(index, patterns[:, row, :, :length, :length])


def forward(model: "PreTrainedModel", tokens: Sequence[Tokens], precision: str) -> np.ndarray:
    """Patterns of one padded batch: float16 [layer, batch, head, query, key]."""
    batch = padding.pad(tokens, model)
    capture = attention.Capture(dtype=torch.float16)
    with (
        torch.inference_mode(),
        devices.autocast(model.device, precision),
        attention.watching(model, capture),
    ):
        model(**batch)
    return np.stack([pattern.cpu().numpy() for pattern in capture.patterns])


def meta_of(card: dict[str, Any], corpus: Path, precision: str) -> dict[str, Any]:
    """What a reader must know to tell this cache from another's."""
    return {
        "model": card["name"],
        "source": card["source"],
        "weights": card["weights"],
        "corpus": hashlib.sha256(corpus.read_bytes()).hexdigest(),
        "precision": precision,
        "versions": card["versions"] | {"h5py": h5py.__version__},
    }


def main(
    model: Path,
    corpus: Path,
    shard: Out,
    max_tokens: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    part: str = "1-of-1",
    files: list[Path] = (),
) -> None:
    """Extract part `part` (as `2-of-8`) of `corpus` with the model of the card `model`."""
    card = read_card(model)
    directory = models.directory_of(card)
    number, parts = (int(text) for text in part.split("-of-"))
    examples = read_examples(corpus)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    if parts > len(tokens):
        raise InputError(
            f"{corpus}: {len(tokens)} examples for {parts} shards; lower attention.shards"
        )
    bounds = np.linspace(0, len(tokens), parts + 1).round().astype(int)
    mine = tokens[bounds[number - 1] : bounds[number]]
    body = models.load_body(directory, devices.pick(device))
    attention.open_attention(body)
    extract(body, mine, shard, meta_of(card, corpus, precision), batch_tokens, precision)


if __name__ == "__main__":
    job.run(main, globals())
