"""The attention cache, an HDF5 file: its format, writing and reading one, and joining shards."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np

from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run import job

FORMAT = b"attention-atlas cache"
VERSION = 2
FLAT = {"ids": np.int32, "word": np.int32, "segment": np.int8}
# Attributes that are written where they hold: only keys up to the query are stored, which are all
# that a decoder sees; rows sum to less than 1, and what is missing is stored.
MARKS = ("triangular", "sinks")
# What h5py raises on a damaged file.
UNREADABLE = (KeyError, OSError, RuntimeError, TypeError, ValueError)


def triangle(pattern: np.ndarray) -> np.ndarray:
    """The weights on keys up to each query, [..., weight] of [..., query, key]."""
    return np.concatenate([pattern[..., row, : row + 1] for row in range(pattern.shape[-1])], -1)


def square(weights: np.ndarray, length: int) -> np.ndarray:
    """The pattern [..., query, key] of a `triangle` over `length` tokens; 0 on later keys."""
    pattern = np.zeros((*weights.shape[:-1], length, length), weights.dtype)
    for row in range(length):
        start = row * (row + 1) // 2
        pattern[..., row, : row + 1] = weights[..., start : start + row + 1]
    return pattern


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Start of each item in a flat array, and its end: int64 [n + 1]."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def reserve(file: h5py.File, n_bytes: int) -> None:
    """Have the disk set aside `n_bytes` beyond what a new file holds, where the system can.

    Raises OSError while HDF5, which does not survive a full disk, can still close the file.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.id.get_vfd_handle(), 0, file.id.get_filesize() + n_bytes)
    except OSError:
        file.close()
        raise


def refusal(path: Path, why: str) -> InputError:
    """The error for a cache that must not be read."""
    return InputError(f"{path}: {why}; delete it and run again")


def open_complete(path: Path) -> h5py.File:
    """The file of a complete cache of this format. Raises InputError for any other."""
    if not path.is_file():
        raise InputError(f"{path}: no such attention cache; run the extraction first")
    try:
        file = h5py.File(path, "r", locking=False)
        attrs = dict(file.attrs)
        name = attrs.get("format")
    except UNREADABLE as error:
        why = f"is truncated or not an HDF5 file ({one_line(error)})"
        raise refusal(path, why) from error
    if name != FORMAT:
        why = "is not an attention cache"
    elif attrs.get("version") != VERSION:
        why = f"has cache format {attrs.get('version')}, this program reads format {VERSION}"
    elif not attrs.get("complete", False):
        why = "is not complete: the extraction was interrupted"
    else:
        return file
    file.close()
    raise refusal(path, why)


class CacheWriter:
    """Writes one cache, which is marked complete only if every example was written without error.

    `positions`, int64 [n], makes it a shard: those of its examples in the whole corpus. `marks` are
    those of MARKS that hold.
    """

    def __init__(
        self,
        path: Path,
        tokens: Sequence[Tokens],
        n_layers: int,
        n_heads: int,
        meta: dict,
        positions: np.ndarray | None = None,
        marks: Sequence[str] = (),
    ) -> None:
        self.path = Path(path)
        self.triangular = "triangular" in marks
        self.shape, self._model = (n_layers, n_heads), meta.get("model", "unknown")
        self._ids = [example.id for example in tokens]
        self._lengths = np.array([len(example) for example in tokens], dtype=np.int64)
        n_weights = self._lengths**2  # of a head
        if self.triangular:
            n_weights = (n_weights + self._lengths) // 2
        self._offsets = offsets(n_weights * n_layers * n_heads)
        self._rows = offsets(self._lengths * n_layers * n_heads)
        self._written = np.zeros((len(tokens), n_layers), dtype=bool)
        file = self._file = h5py.File(self.path, "w", libver="latest")
        file.attrs.update(format=np.bytes_(FORMAT), meta=np.bytes_(json.dumps(meta).encode()))
        file.attrs.update(version=VERSION, complete=False, n_layers=n_layers, n_heads=n_heads)
        file.attrs.update(dict.fromkeys(marks, True))
        for name in ("examples", "tokens", "pattern"):
            file.create_group(name)  # a group that a dataset's path makes has the time in it
        if positions is not None:
            file["examples/place"] = np.asarray(positions, np.int64)
        ids = [name.encode() for name in self._ids]
        longest = max(map(len, ids), default=1)
        file.create_dataset("examples/id", data=ids, dtype=h5py.string_dtype("utf-8", longest))
        file["tokens/offsets"] = offsets(self._lengths)
        for name, dtype in FLAT.items():
            arrays = [getattr(example, name).astype(dtype) for example in tokens]
            file[f"tokens/{name}"] = np.concatenate([np.empty(0, dtype), *arrays])
        file["pattern/offsets"] = self._offsets
        # Contiguous, and not filled before it is written.
        self._values = file.create_dataset(
            "pattern/values", (int(self._offsets[-1]),), np.float16, fill_time="never"
        )
        self._outside = None
        if "sinks" in marks:
            zeros = np.zeros(int(self._rows[-1]), np.float32)
            self._outside = file.create_dataset("pattern/outside", data=zeros)
        reserve(file, 2 * int(self._offsets[-1]))

    def write(self, index: int, pattern: np.ndarray, outside: np.ndarray | None = None) -> None:
        """Store example `index`: [layer, head, query, key], and `outside` [layer, head, query]."""
        length = self._lengths[index]
        if pattern.shape != (*self.shape, length, length):
            raise ValueError(f"example {index}: pattern {pattern.shape}, {length} tokens expected")
        for layer in range(len(pattern)):
            rows = None if outside is None else outside[layer]
            self.write_layer(index, layer, pattern[layer], rows)

    def write_layer(
        self, index: int, layer: int, pattern: np.ndarray, outside: np.ndarray | None = None
    ) -> None:
        """Store a layer of example `index`: [head, query, key].

        Raises InputError where a weight is not finite, or in a triangular cache not 0 on a key
        after the query.
        """
        if self.triangular and np.triu(pattern, 1).any():
            why = "attends to a later token, unlike a decoder's; use another architecture"
            raise self._refused(index, why)
        weights = triangle(pattern) if self.triangular else pattern
        flat = np.ascontiguousarray(weights, dtype=np.float16).reshape(-1)
        if not np.isfinite(flat).all():
            why = "is not finite; check its weights, or set precision: float32"
            raise self._refused(index, why)
        start = self._offsets[index] + layer * len(flat)
        self._values[start : start + len(flat)] = flat
        if self._outside is not None:
            rows = np.ascontiguousarray(outside, dtype=np.float32).reshape(-1)
            start = self._rows[index] + layer * len(rows)
            self._outside[start : start + len(rows)] = rows
        self._written[index, layer] = True

    def _refused(self, index: int, why: str) -> InputError:
        name = self._ids[index]
        return InputError(
            f"{self.path}: the attention of model {self._model} on example {name!r} {why}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                if missing := int((~self._written).any(axis=1).sum()):
                    raise RuntimeError(f"{self.path}: {missing} examples were never written")
                self._file.flush()
                self._file.attrs["complete"] = True
                self._file.flush()
            used = self._file.id.get_filesize()
        finally:
            self._file.close()
        os.truncate(self.path, used)  # of the room that was reserved some may be left


class Cache(Patterns):
    """A complete attention cache, read-only: random access and iteration, one example at a time.

    Raises InputError for a truncated, foreign or older file, and for other weights than `card`'s.
    """

    def __init__(self, path: Path, card: dict[str, Any]) -> None:
        self.path = Path(path)
        self._file = open_complete(self.path)
        attrs = self._file.attrs
        self.meta: dict[str, Any] = json.loads(attrs["meta"])
        self.n_layers, self.n_heads = int(attrs["n_layers"]), int(attrs["n_heads"])
        self.marks = tuple(name for name in MARKS if attrs.get(name, False))
        self.ids: list[str] = self._file["examples/id"].asstr()[:].tolist()
        self._token_offsets = self._file["tokens/offsets"][:]
        self._tokens = {name: self._file[f"tokens/{name}"][:] for name in FLAT}
        self._pattern_offsets = self._file["pattern/offsets"][:]
        self._values = self._file["pattern/values"]
        self._outside = self._file["pattern/outside"] if "sinks" in self.marks else None
        self.bidirectional = "triangular" not in self.marks
        if self.meta.get("weights") != card["weights"]:
            self.close()
            name = self.meta.get("model", "unknown")
            why = f"was made by another model ({name}) than asked for ({card['name']})"
            raise refusal(self.path, why)

    def __getitem__(self, index: int) -> CachedExample:
        index = range(len(self))[index]
        first, last = self._pattern_offsets[index : index + 2]
        flat = {name: values.copy() for name, values in self.tokens(index).items()}
        maps, length = (self.n_layers, self.n_heads), len(flat["ids"])
        outside = None
        values = self._values[first:last].reshape(*maps, -1)
        if self._outside is not None:
            start, end = self._token_offsets[index : index + 2] * np.prod(maps)
            outside = self._outside[start:end].reshape(*maps, length)
        if "triangular" in self.marks:
            pattern = square(values, length)
        else:
            pattern = values.reshape(*maps, length, length)
        about = {"id": self.ids[index], "index": index, "outside": outside}
        return CachedExample(pattern=pattern, **about, **flat)

    def __iter__(self) -> Iterator[CachedExample]:
        return (self[index] for index in range(len(self)))

    def each(self, update: Callable[[CachedExample], None], n: int | None = None) -> None:
        for index in job.progress(range(len(self))[:n], desc="texts"):
            update(self[index])

    def positions(self) -> np.ndarray:
        """Positions of a shard's examples in the whole corpus, int64 [n]."""
        return self._file["examples/place"][:]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_patterns(attention: Path | Patterns, card: dict[str, Any]) -> Patterns:
    """The cache at `attention`, of the model of `card`; or what a job gives in its place."""
    return attention if isinstance(attention, Patterns) else Cache(attention, card)


def join(shards: Sequence[Path], path: Path, card: dict[str, Any]) -> None:
    """Copy the examples of `shards` to one cache at `path`, byte for byte that without shards."""
    with ExitStack() as stack:
        caches = [stack.enter_context(Cache(shard, card)) for shard in shards]
        first, positions = caches[0], [cache.positions() for cache in caches]
        order = np.concatenate(positions).argsort(kind="stable")
        # A cache does not store how many words there are, and the writer does not ask.
        tokens = [
            Tokens(cache.ids[index], n_words=0, **cache.tokens(index))
            for cache in caches
            for index in range(len(cache))
        ]
        ordered = [tokens[index] for index in order]
        about = (first.n_layers, first.n_heads, first.meta)
        with CacheWriter(path, ordered, *about, marks=first.marks) as writer:
            for cache, of_shard in zip(caches, positions, strict=True):
                for position, example in zip(of_shard, cache, strict=True):
                    writer.write(int(position), example.pattern, example.outside)
