"""Length-bucketed batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.model.running import by_length, chunks_by_length, part_of


@pytest.mark.parametrize("batch_tokens", [1, 50, 128, 1000, 10**6])
def test_every_example_once_and_none_over_the_limit(batch_tokens: int) -> None:
    lengths = np.random.default_rng(1).integers(3, 128, size=200)
    batches = by_length(lengths, batch_tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= batch_tokens


def test_chunks_hold_every_example_once_neighbours_in_length_together() -> None:
    lengths = [5, 1, 9, 1, 3]
    assert [chunk.tolist() for chunk in chunks_by_length(lengths, 2)] == [[1, 3], [4, 0], [2]]


@given(st.lists(st.integers(1, 30)), st.integers(1, 100), st.integers(1, 9))
def test_parts_are_batched_as_the_whole(
    lengths: list[int], batch_tokens: int, n_parts: int
) -> None:
    """The batches of all parts, each formed of its examples alone, are those of the whole."""
    found = []
    for number in range(1, n_parts + 1):
        chosen = part_of(lengths, batch_tokens, f"{number}-of-{n_parts}")
        batches = by_length([lengths[index] for index in chosen], batch_tokens)
        found += [tuple(chosen[batch].tolist()) for batch in batches]
    whole = [tuple(batch.tolist()) for batch in by_length(lengths, batch_tokens)]
    assert sorted(found) == sorted(whole)
