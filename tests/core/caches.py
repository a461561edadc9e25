"""Attention caches of random patterns, square and triangular, whole and in shards."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.tokens import Tokens

LAYERS, HEADS = 2, 3
META = {"model": "tiny", "weights": "abc", "corpus": "def"}
CARD = {"name": "tiny", "weights": "abc"}


def random_examples(lengths: list[int], seed: int = 0) -> tuple[list[Tokens], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    tokens, patterns = [], []
    for number, length in enumerate(lengths):
        word = np.array([-1, *range(length - 2), -1], dtype=np.int32)
        ids = rng.integers(100, size=length).astype(np.int32)
        segment = (np.arange(length) > length // 2).astype(np.int8)
        tokens.append(Tokens(f"{seed}-é-{number}", ids, word, segment, length - 2))
        patterns.append(rng.dirichlet(np.ones(length), size=(LAYERS, HEADS, length)))
    return tokens, patterns


def write(path: Path, lengths: list[int]) -> list[np.ndarray]:
    tokens, patterns = random_examples(lengths)
    with CacheWriter(path, tokens, LAYERS, HEADS, META) as writer:
        for index in reversed(range(len(tokens))):  # any order is right
            writer.write(index, patterns[index])
    return patterns


def write_triangle(path: Path, lengths: list[int], sinks: bool = False) -> list[np.ndarray]:
    """A decoder's cache; with `sinks`, a part of each row is missing."""
    tokens, patterns = random_examples(lengths)
    patterns = [np.tril(pattern) for pattern in patterns]
    rests = [(1 - pattern.sum(-1)) if sinks else None for pattern in patterns]
    marks = ("triangular", "sinks") if sinks else ("triangular",)
    with CacheWriter(path, tokens, LAYERS, HEADS, META, marks=marks) as writer:
        for index in reversed(range(len(tokens))):
            writer.write(index, patterns[index], rests[index])
    return patterns


def write_shards(folder: Path, lengths: list[int], places: list[list[int]]) -> list[Path]:
    """A shard of the decoder's cache with sinks for each of `places`."""
    tokens, patterns = random_examples(lengths)
    patterns = [np.tril(pattern) for pattern in patterns]
    rests = [1 - pattern.sum(-1) for pattern in patterns]
    folder.mkdir()
    shards = [folder / f"{number}.h5" for number in range(len(places))]
    for shard, chosen in zip(shards, places, strict=True):
        part = [tokens[place] for place in chosen]
        about = (LAYERS, HEADS, META, np.array(chosen, int))
        with CacheWriter(shard, part, *about, ("triangular", "sinks")) as writer:
            for index, place in enumerate(chosen):
                writer.write(index, patterns[place], rests[place])
    return shards
