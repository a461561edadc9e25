"""The attention cache: round trip, shards, and what is refused."""

from collections.abc import Callable
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
CARD = {"name": "tiny", "weights": "abc"}


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


def test_size_is_that_of_unpadded_float16(tmp_path: Path) -> None:
    lengths = [128] * 20
    write(tmp_path / "a.h5", lengths)
    bare = sum(2 * LAYERS * HEADS * length**2 for length in lengths)
    assert bare <= (tmp_path / "a.h5").stat().st_size <= 1.02 * bare


def test_no_time_is_stored(tmp_path: Path) -> None:
    """So that two runs give the same bytes."""
    write(tmp_path / "a.h5", [5, 9])
    times = []
    with h5py.File(tmp_path / "a.h5") as file:
        file.visititems(lambda _, item: times.append(h5py.h5o.get_info(item.id).mtime))
    assert times
    assert not any(times)


def write_shards(
    folder: Path, lengths: list[int], places: list[list[int]], **changes: dict
) -> list[Path]:
    """A shard for each of `places`; the meta of the last is `changes`, where given."""
    tokens, patterns = random_examples(lengths)
    folder.mkdir()
    shards = [folder / f"{number}.h5" for number in range(len(places))]
    for shard, chosen in zip(shards, places, strict=True):
        meta = META | changes if shard == shards[-1] else META
        part = [tokens[place] for place in chosen]
        with CacheWriter(shard, part, LAYERS, HEADS, meta, np.array(chosen, int)) as writer:
            for index, place in enumerate(chosen):
                writer.write(index, patterns[place])
    return shards


@pytest.mark.parametrize(
    "places", [[[3, 0], [1, 4, 2]], [[0, 1, 2, 3, 4]], [[], [4, 2], [0, 1, 3]]]
)
def test_joined_shards_are_the_whole_byte_for_byte(tmp_path: Path, places: list) -> None:
    lengths = [100, 7, 128, 100, 31]
    write(tmp_path / "whole.h5", lengths)
    join(write_shards(tmp_path / "shards", lengths, places), tmp_path / "joined.h5", CARD)
    assert (tmp_path / "joined.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


@pytest.mark.parametrize("places", [[[0, 1], [1, 2]], [[0], [2]], [[0, 1], [3]]])
def test_shards_that_overlap_or_leave_gaps_do_not_join(tmp_path: Path, places: list) -> None:
    shards = write_shards(tmp_path / "shards", [5, 6, 7, 8], places)
    with pytest.raises(InputError, match="shards: the shards lack examples or share some"):
        join(shards, tmp_path / "all.h5", CARD)
    assert not (tmp_path / "all.h5").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": "other"}, r"1\.h5: was made by another model"),
        ({"corpus": "other"}, r"1\.h5: differs in corpus or precision from .*0\.h5"),
    ],
)
def test_shards_of_two_models_or_corpora_do_not_join(
    tmp_path: Path, change: dict, words: str
) -> None:
    shards = write_shards(tmp_path / "shards", [5, 7], [[0], [1]], **change)
    with pytest.raises(InputError, match=words):
        join(shards, tmp_path / "all.h5", CARD)


def test_a_whole_cache_is_no_shard(tmp_path: Path) -> None:
    write(tmp_path / "1.h5", [5])
    with pytest.raises(InputError, match=r"1\.h5: is not a shard"):
        join([tmp_path / "1.h5"], tmp_path / "all.h5", CARD)


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


def test_a_cache_of_another_model_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.h5", [5])
    Cache(tmp_path / "a.h5", CARD).close()
    with pytest.raises(InputError, match=r"made by another model \(tiny\) than asked for \(big\)"):
        Cache(tmp_path / "a.h5", {"name": "big", "weights": "xyz"})


def test_a_missing_cache_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such attention cache"):
        Cache(tmp_path / "none.h5", CARD)


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


def test_one_flipped_bit_anywhere_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    path, broken = tmp_path / "a.h5", tmp_path / "b.h5"
    write(path, [3, 4])
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
