"""Samples that keep the order of what they are drawn from."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


def sample(items: Sequence[T], n: int, seed: int) -> Sequence[T]:
    """`n` of the items, drawn by `seed`, in their order; all of them if n is 0 or too large."""
    return draw(items, n, random.Random(seed)) if n else items


def draw(items: Sequence[T], n: int, rng: random.Random) -> Sequence[T]:
    """`n` of the items, drawn by `rng`, in their order; all of them if n is too large."""
    if n >= len(items):
        return items
    return [items[index] for index in sorted(rng.sample(range(len(items)), n))]


def sample_rows(frame: "pd.DataFrame", n: int, seed: int) -> "pd.DataFrame":
    """`n` of the rows of a table, numbered from 0: those that `sample` draws."""
    return frame.iloc[list(sample(range(len(frame)), n, seed))].reset_index(drop=True)


def sample_rows_by_pandas(frame: "pd.DataFrame", n: int, seed: int) -> "pd.DataFrame":
    """At most `n` rows of a table, in their order, drawn by pandas, whose stream is another."""
    return frame if len(frame) <= n else frame.sample(n, random_state=seed).sort_index()
