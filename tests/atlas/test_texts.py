"""Which texts the atlas shows, and how their maps are stored."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.atlas.plainly import bound
from tests.core.tiny_models import random_tokens
from workflow_scripts.atlas.texts import (
    Wanted,
    chosen,
    decode,
    encode,
    first_of_drawings,
    opened,
    sampled,
    spread,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.finetuning.finetuning_maps import choose

LENGTHS = np.array([40, 20, 18, 3, 30, 17, 50, 60, 16, 90])


def test_short_texts_from_all_over() -> None:
    """Stretches of 4, 3 and 3: the shortest of each with at least 16 tokens, where there is one."""
    assert spread(LENGTHS, 3) == [2, 5, 8]
    assert spread(np.array([3, 5, 4]), 1) == [0]
    assert spread(LENGTHS, 0) == spread(LENGTHS, 0, first=5) == []
    assert sorted(spread(LENGTHS, 99)) == list(range(10))


def test_the_first_is_given_and_not_taken_again() -> None:
    """After 5, stretches of 5 each: 2 is the shortest of the first, 8 of the second."""
    assert spread(LENGTHS, 3, first=5) == [5, 2, 8]
    assert spread(LENGTHS, 3, first=8) == [8, 2, 5]


def test_the_first_example_is_the_one_of_the_drawn_maps() -> None:
    for seed in range(5):
        found = sampled(LENGTHS, 3, 30, seed)
        assert found[0] == choose(LENGTHS, 30, seed)
        assert len(set(found)) == 3 and (LENGTHS[found] <= 30).all()
    assert sampled(LENGTHS, 2, 2, 1) == [3] and sampled(LENGTHS, 0, 2, 1) == []
    assert sorted(sampled(LENGTHS, 9, 18, 1)) == [2, 3, 5, 8]


def test_the_segment_of_the_drawings(tmp_path: Path) -> None:
    drawings = pd.DataFrame({"example": ["b", "b"], "weight": [0.1, 0.2]})
    tables.write(drawings, tmp_path / "drawings.parquet")
    tables.write(drawings[:0], tmp_path / "none.parquet")
    assert first_of_drawings(tmp_path / "drawings.parquet") == "b"
    assert first_of_drawings(tmp_path / "none.parquet") == first_of_drawings(None) == ""


def test_one_of_each_source_before_the_next(tmp_path: Path) -> None:
    kinds = {"wiki": "text", "trees": "annotated", "sst2": "task"}
    paths = []
    for name in kinds:
        tokens = random_tokens([20, 18, 30, 25])
        paths.append(tmp_path / f"{name}.h5")
        with CacheWriter(paths[-1], tokens, 1, 1, {"weights": "w"}) as writer:
            for index, length in enumerate([20, 18, 30, 25]):
                writer.write(index, np.full((1, 1, length, length), 1 / length))
    wanted = Wanted(segments=2, examples=3, most_tokens=26, seed=1, first="3")
    with opened(kinds, paths, {"weights": "w", "name": "tiny"}) as caches:
        found = chosen(caches, kinds, wanted)
        none = chosen(caches, kinds, Wanted(segments=0, examples=0, most_tokens=26, seed=1))
    assert [name for name, _ in found] == ["wiki", "trees", "sst2", "wiki", "sst2", "sst2"]
    assert found[0] == ("wiki", 3) and found[1] == ("trees", 1) and found[3] == ("wiki", 1)
    assert sorted(index for name, index in found if name == "sst2") == [0, 1, 3]
    assert none == []


def maps(largest: float = 1.0) -> np.ndarray:
    """Rows that sum to `largest`, some peaked and some flat: [layer, head, query, key]."""
    rng = np.random.default_rng(1)
    sharpness = rng.uniform(0, 12, (2, 3, 7, 1))
    scores = np.exp(sharpness * rng.normal(size=(2, 3, 7, 7)))
    return largest * scores / scores.sum(-1, keepdims=True)


@pytest.mark.parametrize("largest", [1.0, 1e-6, 37.5])
def test_values_come_back_within_the_bound(largest: float) -> None:
    values = maps(largest=largest)
    entry = encode(values)
    error = np.abs(decode(entry) - values)
    allowed = bound(values, entry["largest"])
    assert (error <= allowed * (1 + 1e-5)).all()
    assert (error > allowed / 2).any(), "the bound is far from what happens"


def test_the_bytes_by_hand() -> None:
    """Of 1, 0.25, 0.01 and 0 with a largest of 4: 255 * sqrt(v / 4) = 127.5, 63.75, 12.75, 0."""
    values = np.array([[4.0, 1.0], [0.25, 0.01], [0.0, 0.0]])
    entry = encode(values)
    assert entry["shape"] == [3, 2] and entry["largest"] == 4.0
    expected = [[4.0, 4 * (128 / 255) ** 2], [4 * (64 / 255) ** 2, 4 * (13 / 255) ** 2], [0, 0]]
    np.testing.assert_allclose(decode(entry), expected, rtol=1e-6)
    assert not decode(encode(np.zeros((2, 2)))).any()
    with pytest.raises(ValueError, match="finite"):
        encode(np.array([0.5, np.nan]))
