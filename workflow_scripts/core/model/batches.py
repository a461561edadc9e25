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


def chunks_by_length(lengths: Sequence[int], size: int) -> list[np.ndarray]:
    """Batches of `size` example indices, shortest first, however many tokens they have."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def part_of(lengths: Sequence[int], batch_tokens: int, part: str) -> np.ndarray:
    """The examples of one part, `2-of-8` say, as ascending indices: its share of the batches.

    The batches are those of `by_length`, which forms the same ones of a part's examples alone, so
    that no product of a batch depends on the number of parts. A part may be empty. The batches
    with the most tokens, padding included, are dealt first, each to the part with the fewest.
    """
    number, n_parts = (int(text) for text in part.split("-of-"))
    batches = by_length(lengths, batch_tokens)
    padded = [len(batch) * int(lengths[batch[0]]) for batch in batches]
    load, chosen = np.zeros(n_parts), [np.empty(0, int)]
    for index in np.argsort(padded, kind="stable")[::-1]:
        dealt_to = int(load.argmin())
        load[dealt_to] += padded[index]
        if dealt_to == number - 1:
            chosen.append(batches[index])
    return np.sort(np.concatenate(chosen))
