"""Length-bucketed batches: neighbours in length share a batch, so that little is padded."""

from collections.abc import Sequence

import numpy as np


def by_length(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Batches of example indices, longest first; padded, none exceeds `batch_tokens` tokens.

    An example longer than `batch_tokens` is a batch of its own. Longest first, so that a batch
    that does not fit into memory fails at once and not at the end.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches


def in_chunks(lengths: Sequence[int], size: int) -> list[np.ndarray]:
    """Batches of `size` example indices, shortest first, whatever they hold together."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]
