"""Attention maps of a corpus, or of one shard of it, streamed to an HDF5 cache."""

from pathlib import Path

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.extraction import extract, meta_of
from workflow_scripts.core.run import job


def main(
    model: Path,
    corpus: Path,
    shard: job.Out,
    max_tokens: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    part: str | None = None,
) -> None:
    """Extract `corpus`, or its part `part` (as `2-of-8`), with the model of the card `model`."""
    card = read_card(model)
    directory = models.directory_of(card)
    examples = read_examples(corpus)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    body = models.load_body(directory, running.pick_device(device))
    attention.open_attention(body)
    meta = meta_of(card, corpus, precision)
    extract(body, tokens, shard, meta, batch_tokens, precision, part)


if __name__ == "__main__":
    job.run(main, globals())
