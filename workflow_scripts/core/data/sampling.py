"""Samples that keep the order of what they are taken from."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


def sample(items: Sequence[T], n: int, seed: int) -> Sequence[T]:
    """`n` of the items, sampled by `seed`, in their order; all of them if n is 0 or too large."""
    return sample_by(random.Random(seed), items, n) if n else items


def sample_by(rng: random.Random, items: Sequence[T], n: int) -> Sequence[T]:
    """`n` of the items, sampled by `rng`, in their order; all of them if n is too large."""
    if n >= len(items):
        return items
    return [items[index] for index in sorted(rng.sample(range(len(items)), n))]


def sample_rows(frame: "pd.DataFrame", n: int, seed: int) -> "pd.DataFrame":
    """`n` of the rows of a table, numbered from 0: those that `sample` takes."""
    return frame.iloc[list(sample(range(len(frame)), n, seed))].reset_index(drop=True)
