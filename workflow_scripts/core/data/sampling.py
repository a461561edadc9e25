"""Samples that keep their order."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sample(items: Sequence[T], n: int, seed: int) -> Sequence[T]:
    """`n` of the items, drawn by `seed`, in their order; all of them where n is 0 or too many."""
    if not 0 < n < len(items):
        return items
    return [items[k] for k in sorted(random.Random(seed).sample(range(len(items)), n))]
