"""Samples keep their order, follow the seed, and are the same of lists and of tables."""

import random

import pandas as pd

from workflow_scripts.core.data.tables import sample, sample_by, sample_rows


def test_a_sample_keeps_the_order_and_follows_the_seed() -> None:
    items = list(range(100))
    sampled = sample(items, 10, seed=1)
    assert sampled == sorted(set(sampled)) and len(sampled) == 10
    assert sampled == sample(items, 10, seed=1) == sample_by(random.Random(1), items, 10)
    assert sampled != sample(items, 10, seed=2)


def test_rows_of_a_table() -> None:
    frame = pd.DataFrame({"a": range(50)})
    rows = sample_rows(frame, 5, seed=3)
    assert rows["a"].tolist() == sample(range(50), 5, seed=3)
    assert rows.index.tolist() == list(range(5))
    assert sample_rows(frame, 0, seed=3).equals(frame)
