"""The attention cache: round trip, shards, and what is refused."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.core.caches import (
    CARD,
    HEADS,
    LAYERS,
    META,
    random_examples,
    write,
    write_shards,
    write_triangle,
)
from workflow_scripts.core.data.cache import Cache, CacheWriter, join
from workflow_scripts.core.errors import InputError


def test_round_trip(tmp_path: Path) -> None:
    patterns = write(tmp_path / "a.h5", [5, 9, 3, 128])
    tokens, _ = random_examples([5, 9, 3, 128])
    with Cache(tmp_path / "a.h5", CARD) as cache:
        assert (len(cache), cache.n_layers, cache.n_heads) == (4, LAYERS, HEADS)
        assert cache.lengths.tolist() == [5, 9, 3, 128]
        for expected, pattern, example in zip(tokens, patterns, cache, strict=True):
            assert example.id == expected.id
            assert example.pattern.dtype == np.float16
            np.testing.assert_array_equal(example.pattern, pattern.astype(np.float16))
            for name in ("ids", "word", "segment"):
                np.testing.assert_array_equal(getattr(example, name), getattr(expected, name))
        np.testing.assert_array_equal(cache[-1].pattern, cache[3].pattern)
        with pytest.raises(IndexError):
            cache[4]


@pytest.mark.parametrize("sinks", [False, True])
def test_a_triangle_is_read_as_a_square(tmp_path: Path, sinks: bool) -> None:
    patterns = write_triangle(tmp_path / "a.h5", [5, 9, 3, 128], sinks)
    with Cache(tmp_path / "a.h5", CARD) as cache:
        for pattern, example in zip(patterns, cache, strict=True):
            np.testing.assert_array_equal(example.pattern, pattern.astype(np.float16))
            if sinks:
                missing = 1 - pattern.sum(-1)
                np.testing.assert_allclose(example.outside, missing, atol=1e-7)
            else:
                assert example.outside is None
    with h5py.File(tmp_path / "a.h5") as file:
        sizes = [LAYERS * HEADS * n * (n + 1) // 2 for n in (5, 9, 3, 128)]
        assert np.diff(file["pattern/offsets"]).tolist() == sizes
        row_by_row = [
            patterns[0][layer, head, q, k] for layer, head, q, k in np.ndindex(2, 3, 5, 5) if k <= q
        ]
        expected = np.array(row_by_row, np.float16)
        np.testing.assert_array_equal(file["pattern/values"][: sizes[0]], expected)


def test_joined_triangles_are_the_whole_byte_for_byte(tmp_path: Path) -> None:
    lengths = [10, 7, 12]
    write_triangle(tmp_path / "whole.h5", lengths, sinks=True)
    shards = write_shards(tmp_path / "shards", lengths, [[2, 0], [], [1]])
    join(shards, tmp_path / "joined.h5", CARD)
    assert (tmp_path / "joined.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_weight_on_a_later_token_is_not_stored_as_a_triangle(tmp_path: Path) -> None:
    tokens, patterns = random_examples([5, 6])
    patterns = [np.tril(pattern) for pattern in patterns]
    patterns[1][1, 2, 3, 4] = 1e-30  # would be 0 in float16
    with (
        pytest.raises(InputError, match=r"model tiny on example '0-é-1' attends to a later token"),
        CacheWriter(
            tmp_path / "a.h5", tokens, LAYERS, HEADS, META, marks=("triangular",)
        ) as writer,
    ):
        writer.write(0, patterns[0])
        writer.write(1, patterns[1])


def test_an_unfinished_cache_is_refused(tmp_path: Path) -> None:
    tokens, patterns = random_examples([5, 6])
    with (
        pytest.raises(KeyboardInterrupt),
        CacheWriter(tmp_path / "a.h5", tokens, LAYERS, HEADS, META) as writer,
    ):
        writer.write(0, patterns[0])
        raise KeyboardInterrupt
    with pytest.raises(InputError, match="not complete"):
        Cache(tmp_path / "a.h5", CARD)


def test_a_missing_cache_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.h5: no such attention cache; run the"):
        Cache(tmp_path / "a.h5", CARD)


def test_a_cache_of_another_model_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.h5", [5])
    Cache(tmp_path / "a.h5", CARD).close()
    with pytest.raises(InputError, match=r"made by another model \(tiny\) than asked for \(big\)"):
        Cache(tmp_path / "a.h5", {"name": "big", "weights": "xyz"})


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("cut", "truncated or not an HDF5 file"),
        ("foreign", "not an attention cache"),
        ("older", "has cache format 1, this program reads format 2"),
    ],
)
def test_another_file_is_refused_with_the_reason(tmp_path: Path, damage: str, words: str) -> None:
    path = tmp_path / "a.h5"
    write(path, [5, 6, 60])
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        with h5py.File(path, "a") as file:
            file.attrs.update({"format": b"other"} if damage == "foreign" else {"version": 1})
    with pytest.raises(InputError, match=words):
        Cache(path, CARD)
