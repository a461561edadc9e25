"""Attention maps of a corpus, or of one shard of it, streamed to an HDF5 cache."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import attention, devices, models
from workflow_scripts.core.model.extraction import extract, meta_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out


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
    number, n_parts = (int(text) for text in part.split("-of-"))
    examples = read_examples(corpus)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    if n_parts > len(tokens):
        raise InputError(
            f"{corpus}: {len(tokens)} examples for {n_parts} shards; lower attention.shards"
        )
    bounds = np.linspace(0, len(tokens), n_parts + 1).round().astype(int)
    shard_tokens = tokens[bounds[number - 1] : bounds[number]]
    body = models.load_body(directory, devices.pick(device))
    attention.open_attention(body)
    extract(body, shard_tokens, shard, meta_of(card, corpus, precision), batch_tokens, precision)


if __name__ == "__main__":
    job.run(main, globals())
