"""Random attention of a decoder, and a cache of it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.core.caches import CARD
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.tokens import Tokens

LAYERS, HEADS = 2, 3
POINT = 3  # the id of the full stop
DECODER = CARD | {
    "bidirectional": False,
    "n_layers": LAYERS,
    "n_heads": HEADS,
    "punctuation": [POINT],
    "special": dict.fromkeys(("cls", "sep", "mask", "pad")),
}


def pattern_of(length: int, seed: int) -> np.ndarray:
    """Random attention, float16 [layer, head, query, key], no later token seen."""
    rng = np.random.default_rng(seed)
    weights = np.tril(rng.random((LAYERS, HEADS, length, length)) ** 4)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float16)


def pieces(words: Sequence[str], seed: int) -> list[int]:
    """The word of each token: some words have several; every third text has a start token."""
    rng = np.random.default_rng(seed)
    word = [k for k in range(len(words)) for _ in range(rng.integers(1, 4))]
    return [-1, *word] if seed % 3 == 0 else word


def write_cache(path: Path, words: Sequence[Sequence[int]], ids: Sequence[str]) -> list[np.ndarray]:
    """A cache of texts whose tokens are of these words (-1: a start token); their patterns."""
    texts = [
        Tokens(
            name, np.ones(len(word), np.int32), np.array(word, np.int32),
            np.zeros(len(word), np.int8), max(word) + 1,
        )
        for name, word in zip(ids, words, strict=True)
    ]  # fmt: skip
    patterns = [pattern_of(len(word), seed) for seed, word in enumerate(words)]
    with CacheWriter(path, texts, LAYERS, HEADS, {"weights": DECODER["weights"]}) as writer:
        for index, pattern in enumerate(patterns):
            writer.write(index, pattern)
    return patterns
