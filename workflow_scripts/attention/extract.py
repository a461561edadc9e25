"""Attention maps of a corpus, or of one part of it, streamed to an HDF5 cache."""

from pathlib import Path

from workflow_scripts.core.data import cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model.extraction import extract, meta_of, read
from workflow_scripts.core.run import job


def main(
    model: Path,
    corpus: Path,
    attention: job.Out,
    max_tokens: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    part: str | None = None,
    parts: list[Path] = (),
) -> None:
    """Extract `corpus`, or its part `part` (as `2-of-8`), with the model of the card `model`.

    `parts` are the caches of all parts, which are then joined, and the model is not run.
    """
    if parts:
        cache.join(parts, attention, read_card(model))
        return
    body, tokens = read(device, str(model), str(corpus), max_tokens)
    meta = meta_of(read_card(model), corpus, precision)
    extract(body, tokens, attention, meta, batch_tokens, precision, part)


if __name__ == "__main__":
    job.run(main, globals())
