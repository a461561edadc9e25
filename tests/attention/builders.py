"""Attention caches for the tests of the chapters that read them."""

from pathlib import Path

from workflow_scripts.attention import extract


def write_cache(path: Path, card: Path, corpus: Path, max_tokens: int = 64) -> Path:
    """The attention cache of a corpus file, by the model of a card."""
    extract.main(model=card, corpus=corpus, shard=path, max_tokens=max_tokens, device="cpu")
    return path
