"""The shards of a corpus as one cache, byte for byte the one that is made without shards."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data.cache import Cache, CacheWriter
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError


def join(shards: Sequence[Path], path: Path, card: dict[str, Any]) -> None:
    """Copy the examples of `shards` to one cache at `path`; one pattern at a time is in memory.

    Raises InputError where the shards are not those of one corpus by the model of `card`.
    """
    with ExitStack() as stack:
        caches = [stack.enter_context(Cache(shard, card)) for shard in shards]
        first, positions = caches[0], [cache.positions() for cache in caches]
        for cache in caches[1:]:
            about = (cache.meta, cache.n_layers, cache.marks)
            if about != (first.meta, first.n_layers, first.marks):
                raise InputError(
                    f"{cache.path}: differs in corpus or precision from {first.path}; "
                    "delete the shards and run again"
                )
        order = np.concatenate(positions).argsort(kind="stable")
        if not np.array_equal(np.concatenate(positions)[order], np.arange(len(order))):
            raise InputError(
                f"{first.path.parent}: the shards lack examples or share some; "
                "delete the shards and run again"
            )
        tokens = [_tokens(cache, index) for cache in caches for index in range(len(cache))]
        ordered = [tokens[index] for index in order]
        about = (first.n_layers, first.n_heads, first.meta)
        with CacheWriter(path, ordered, *about, marks=first.marks) as writer:
            for cache, of_shard in zip(caches, positions, strict=True):
                for position, example in zip(of_shard, cache, strict=True):
                    writer.write(int(position), example.pattern, example.outside)


def _tokens(cache: Cache, index: int) -> Tokens:
    """An example without its pattern, as the writer takes it."""
    flat = cache.tokens(index)
    # A cache does not store how many words there are, and the writer does not ask.
    return Tokens(id=cache.ids[index], n_words=0, **flat)
