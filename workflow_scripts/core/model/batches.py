"""Length-bucketed batches: examples of similar length share a batch, so that padding is rare."""

from collections.abc import Sequence

import numpy as np


def by_length(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Batches of example indices, longest first; padded, none exceeds `batch_tokens` tokens.

    An example longer than `batch_tokens` is a batch by itself. Longest first, so that a batch
    that does not fit into memory fails at the start.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches


def in_chunks(lengths: Sequence[int], size: int) -> list[np.ndarray]:
    """Batches of `size` example indices, shortest first, however many tokens they have."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]
