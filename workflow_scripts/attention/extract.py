"""Attention maps of a corpus, or of one shard of it, streamed to an HDF5 cache."""

from pathlib import Path

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model.extraction import extract, meta_of, read
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
    body, tokens = read(device, str(model), str(corpus), max_tokens)
    meta = meta_of(read_card(model), corpus, precision)
    extract(body, tokens, shard, meta, batch_tokens, precision, part)


if __name__ == "__main__":
    job.run(main, globals())
