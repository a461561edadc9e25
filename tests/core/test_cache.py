"""The attention cache: round trip, shards, and what is refused."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from workflow_scripts.core.data.cache import Cache, CacheWriter
from workflow_scripts.core.data.cache_shards import join
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.run.errors import InputError

LAYERS, HEADS = 2, 3
META = {"model": "tiny", "weights": "abc", "corpus": "def"}


def random_examples(lengths: list[int], seed: int = 0) -> tuple[list[Tokens], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    tokens, patterns = [], []
    for number, length in enumerate(lengths):
        word = np.array([-1, *range(length - 2), -1], dtype=np.int32)
        ids = rng.integers(100, size=length).astype(np.int32)
        segment = (np.arange(length) > length // 2).astype(np.int8)
        tokens.append(Tokens(f"{seed}-é-{number}", ids, word, segment, length - 2))
        patterns.append(rng.dirichlet(np.ones(length), size=(LAYERS, HEADS, length)))
    return tokens, patterns


def write(path: Path, lengths: list[int], seed: int = 0, meta: dict = META) -> list[np.ndarray]:
    tokens, patterns = random_examples(lengths, seed)
    with CacheWriter(path, tokens, LAYERS, HEADS, meta) as writer:
        for index in reversed(range(len(tokens))):  # any order is right
            writer.write(index, patterns[index])
    return patterns


def test_round_trip(tmp_path: Path) -> None:
    patterns = write(tmp_path / "a.h5", [5, 9, 3, 128])
    tokens, _ = random_examples([5, 9, 3, 128])
    with Cache(tmp_path / "a.h5") as cache:
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


def test_size_is_that_of_unpadded_float16(tmp_path: Path) -> None:
    lengths = [128] * 20
    write(tmp_path / "a.h5", lengths)
    bare = sum(2 * LAYERS * HEADS * length**2 for length in lengths)
    assert bare <= (tmp_path / "a.h5").stat().st_size <= 1.02 * bare


def test_shards_join_without_copying(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    shards = [tmp_path / "shards" / f"{k}.h5" for k in range(3)]
    patterns = []
    for seed, shard in enumerate(shards):
        patterns += write(shard, [100, 120, 128 - seed], seed)
    join(shards, tmp_path / "all.h5")
    assert (tmp_path / "all.h5").stat().st_size < 0.2 * shards[0].stat().st_size
    before = Path.cwd()
    os.chdir("/")
    try:
        with Cache(tmp_path / "all.h5") as cache:
            assert len(cache) == 9
            for pattern, example in zip(patterns, cache, strict=True):
                np.testing.assert_array_equal(example.pattern, pattern.astype(np.float16))
    finally:
        os.chdir(before)


def test_a_lost_or_exchanged_shard_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "1.h5", [5, 6])
    write(tmp_path / "2.h5", [7], seed=1)
    join([tmp_path / "1.h5", tmp_path / "2.h5"], tmp_path / "all.h5")
    write(tmp_path / "2.h5", [8], seed=1)
    with pytest.raises(InputError, match=r"does not fit its shard .*2\.h5"):
        Cache(tmp_path / "all.h5")
    (tmp_path / "2.h5").unlink()
    with pytest.raises(InputError, match=r"lost its shard .*2\.h5"):
        Cache(tmp_path / "all.h5")


def test_shards_of_two_models_do_not_join(tmp_path: Path) -> None:
    write(tmp_path / "1.h5", [5])
    write(tmp_path / "2.h5", [7], meta=META | {"weights": "other"})
    with pytest.raises(InputError, match="differs in model or corpus"):
        join([tmp_path / "1.h5", tmp_path / "2.h5"], tmp_path / "all.h5")


def test_an_unfinished_cache_is_refused(tmp_path: Path) -> None:
    tokens, patterns = random_examples([5, 6])
    with (
        pytest.raises(KeyboardInterrupt),
        CacheWriter(tmp_path / "a.h5", tokens, LAYERS, HEADS, META) as writer,
    ):
        writer.write(0, patterns[0])
        raise KeyboardInterrupt
    with pytest.raises(InputError, match="not complete"):
        Cache(tmp_path / "a.h5")


def test_a_forgotten_example_is_an_error(tmp_path: Path) -> None:
    tokens, patterns = random_examples([5, 6])
    with (
        pytest.raises(RuntimeError, match="1 examples were never written"),
        CacheWriter(tmp_path / "a.h5", tokens, LAYERS, HEADS, META) as writer,
    ):
        writer.write(0, patterns[0])


def test_a_pattern_of_the_wrong_shape_is_an_error(tmp_path: Path) -> None:
    tokens, patterns = random_examples([5, 6])
    with (
        pytest.raises(ValueError, match="6 tokens expected"),
        CacheWriter(tmp_path / "a.h5", tokens, LAYERS, HEADS, META) as writer,
    ):
        writer.write(1, patterns[0])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("truncate", "truncated or not an HDF5 file"),
        ("text", "truncated or not an HDF5 file"),
        ("foreign", "not an attention cache"),
        ("older", "has cache format 0, this program reads format 1"),
        ("lengths", "wrong length"),
    ],
)
def test_a_damaged_file_is_refused_and_says_why(tmp_path: Path, damage: str, words: str) -> None:
    path = tmp_path / "a.h5"
    write(path, [5, 6, 60])
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "text":
        path.write_text("attention")
    else:
        with h5py.File(path, "a") as file:
            if damage == "foreign":
                del file.attrs["format"]
            elif damage == "older":
                file.attrs["version"] = 0
            else:
                file["pattern/offsets"][-1] += 1
    with pytest.raises(InputError, match=words) as error:
        Cache(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cache_of_another_model_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.h5", [5])
    Cache(tmp_path / "a.h5", model={"name": "tiny", "weights": "abc"}).close()
    with pytest.raises(InputError, match=r"made by another model \(tiny\) than asked for \(big\)"):
        Cache(tmp_path / "a.h5", model={"name": "big", "weights": "xyz"})


def test_a_missing_cache_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such attention cache"):
        Cache(tmp_path / "none.h5")
