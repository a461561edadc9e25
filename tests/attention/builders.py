"""Attention caches for the tests of the chapters that read them."""

from pathlib import Path

from workflow_scripts.attention import extract
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card


def write_cache(path: Path, card: Path, corpus: Path, max_tokens: int = 64) -> Path:
    """The attention cache of a corpus file, by the model of a card."""
    extract.main(model=card, corpus=corpus, attention=path, max_tokens=max_tokens, device="cpu")
    return path


def card_of(cache: Path) -> Path:
    """The card of a cache's model, next to it."""
    return cache.with_name("model.json")


def open_cache(path: Path) -> Cache:
    """A cache whose model's card is next to it."""
    return Cache(path, read_card(card_of(path)))
