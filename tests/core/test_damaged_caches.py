"""Damage to an attention cache is noticed, whatever its place."""

from collections.abc import Callable
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
    write_triangle,
)
from workflow_scripts.core.data.cache import Cache, CacheWriter
from workflow_scripts.core.errors import InputError


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("truncate", "truncated or not an HDF5 file"),
        ("text", "truncated or not an HDF5 file"),
        ("foreign", "not an attention cache"),
        ("one byte less", "truncated or not an HDF5 file"),
        ("older", "has cache format 1, this program reads format 2"),
        ("offsets", "wrong offsets"),
        ("lengths", "wrong length"),
        ("checksums", "is damaged"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(tmp_path: Path, damage: str, words: str) -> None:
    path = tmp_path / "a.h5"
    write(path, [5, 6, 60])
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "one byte less":
        path.write_bytes(path.read_bytes()[:-1])
    elif damage == "text":
        path.write_text("attention")
    else:
        with h5py.File(path, "a") as file:
            if damage == "foreign":
                del file.attrs["format"]
            elif damage == "older":
                file.attrs["version"] = 1
            elif damage == "checksums":
                del file["tokens/crc32"]
            else:
                file["pattern/offsets" if damage == "offsets" else "tokens/offsets"][-1] += 1
    with pytest.raises(InputError, match=words) as error:
        Cache(path, CARD)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lengths", [[5, 5], [10] * 3, [33] * 7, [40] * 60], ids=len)
def test_the_last_byte_is_one_that_counts(tmp_path: Path, lengths: list[int]) -> None:
    path = tmp_path / "a.h5"
    write(path, lengths)
    Cache(path, CARD).close()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="truncated or not an HDF5 file"):
        Cache(path, CARD)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_not_finite_is_not_written(tmp_path: Path, value: float) -> None:
    tokens, patterns = random_examples([5, 6])
    patterns[1][1, 2, 3, 4] = value
    with (
        pytest.raises(InputError, match=r"model tiny on example '0-é-1' is not finite"),
        CacheWriter(tmp_path / "a.h5", tokens, LAYERS, HEADS, META) as writer,
    ):
        writer.write(0, patterns[0])
        writer.write(1, patterns[1])
    with pytest.raises(InputError, match="not complete"):
        Cache(tmp_path / "a.h5", CARD)


def read_all(path: Path) -> list[tuple]:
    """All that a reader can see of a cache."""
    with Cache(path, CARD) as cache:
        about = [(cache.meta, cache.n_layers, cache.n_heads, cache.ids, cache.lengths.tolist())]
        flat = [tuple(cache.flat(name).tolist()) for name in ("ids", "word", "segment")]
        return about + flat + [example.pattern.tobytes() for example in cache]


def plant(path: Path, dataset: str, change: Callable[[np.ndarray], None]) -> None:
    with h5py.File(path, "a") as file:
        values = file[dataset][:]
        change(values)
        file[dataset][:] = values


def test_a_planted_nan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    write(path, [5, 6])
    plant(path, "pattern/values", lambda values: values.__setitem__(-1, np.nan))
    with Cache(path, CARD) as cache:
        cache[0]
        with pytest.raises(InputError) as error:
            cache[1]
    expected = f"{path}: is damaged: example 1 ('0-é-1') does not fit its CRC-32; "
    assert str(error.value) == expected + "delete it and run again"


def test_exchanged_patterns_are_refused(tmp_path: Path) -> None:
    """Two examples of one length, each pattern whole, but each the other's."""
    path = tmp_path / "a.h5"
    write(path, [6, 6])
    for dataset in ("pattern/values", "pattern/crc32"):
        plant(
            path,
            dataset,
            lambda values: values.__setitem__(slice(None), np.roll(values, len(values) // 2)),
        )
    with Cache(path, CARD) as cache, pytest.raises(InputError, match="example 0"):
        cache[0]


@pytest.mark.parametrize("triangular", [False, True])
def test_one_flipped_bit_anywhere_is_refused_or_changes_nothing(
    tmp_path: Path, triangular: bool
) -> None:
    path, broken = tmp_path / "a.h5", tmp_path / "b.h5"
    write_triangle(path, [3], sinks=True) if triangular else write(path, [3, 4])
    whole, expected, refused = path.read_bytes(), read_all(path), 0
    for place in range(0, len(whole), 4):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place // 4 % 8
        broken.write_bytes(flipped)
        try:
            assert read_all(broken) == expected, place
        except InputError as error:
            refused += 1
            assert str(broken) in str(error)
            assert "\n" not in str(error)
            assert "run again" in str(error)
    assert refused > 100


@pytest.mark.parametrize(
    "dataset",
    [f"pattern/{name}" for name in ("values", "offsets", "crc32")]
    + [f"tokens/{name}" for name in ("ids", "word", "segment", "offsets", "crc32")],
)
def test_every_byte_of_every_array_counts(tmp_path: Path, dataset: str) -> None:
    path = tmp_path / "a.h5"
    write(path, [3, 4])
    with h5py.File(path) as file:
        start, size = file[dataset].id.get_offset(), file[dataset].id.get_storage_size()
    whole = path.read_bytes()
    for place in range(start, start + size):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(InputError, match="damaged"):
            read_all(path)
