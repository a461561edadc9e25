"""The attention cache: every example's pattern in one HDF5 file, float16, unpadded.

Layout (format 2): `examples/id`; `tokens/offsets` and flat `tokens/ids`, `tokens/word`,
`tokens/segment`; `pattern/offsets` and flat `pattern/values`, where example i reshapes to
[layer, head, query, key]; in the cache of a decoder, with the attribute `triangular`, to [layer,
head, weight], the keys up to each query, one query after the other. Of a model with sinks, with the
attribute `sinks`, `pattern/outside` has what is missing of each row's sum of 1, flat [layer, head,
query], float32. The lengths are known before the first forward pass, so every example has fixed
offsets and batches may be written in any order.

Text has a fixed length, which keeps it out of HDF5's heaps: a damaged heap may be read for ever.
The file's one checksum is in the record next to it (core/integrity/provenance.py).

A shard holds some examples of a corpus; its `examples/place` has their positions in the whole.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from workflow_scripts.core.data.cache_format import (
    FLAT,
    MARKS,
    n_weights,
    offsets,
    open_complete,
    refusal,
    reserve,
    square,
    text_of,
    triangle,
    write_header,
    write_tokens,
)
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job


class CacheWriter:
    """Writes one cache, which is marked complete only if every example was written without error.

    `Cache` refuses a file that was not completed; a job writes to a partial path anyway.
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
        self._offsets = offsets(n_weights(self._lengths, self.triangular) * n_layers * n_heads)
        self._rows = offsets(self._lengths * n_layers * n_heads)
        self._written = np.zeros((len(tokens), n_layers), dtype=bool)
        self._file = h5py.File(self.path, "w", libver="latest")
        write_header(self._file, n_layers, n_heads, meta, marks)
        if positions is not None:
            self._file["examples/place"] = np.asarray(positions, np.int64)
        write_tokens(self._file, tokens, self._lengths)
        self._file["pattern/offsets"] = self._offsets
        # Contiguous, and not filled before it is written.
        self._values = self._file.create_dataset(
            "pattern/values", (int(self._offsets[-1]),), np.float16, fill_time="never"
        )
        self._outside = None
        if "sinks" in marks:
            zeros = np.zeros(int(self._rows[-1]), np.float32)
            self._outside = self._file.create_dataset("pattern/outside", data=zeros)
        reserve(self._file, 2 * int(self._offsets[-1]))

    def write(self, index: int, pattern: np.ndarray, outside: np.ndarray | None = None) -> None:
        """Store example `index`: pattern [layer, head, query, key] over its real tokens.

        `outside` [layer, head, query], of a model with sinks. Raises InputError as `write_layer`.
        """
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    `card` is that of the model that it should be of; a cache of other weights is refused.
    Raises InputError, with the reason, for a truncated, foreign, older or other model's file.
    """

    def __init__(self, path: Path, card: dict[str, Any]) -> None:
        self.path = Path(path)
        self._file = open_complete(self.path)
        attrs = self._file.attrs
        self.meta: dict[str, Any] = json.loads(text_of(attrs["meta"]))
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
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
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
        if "examples/place" not in self._file:
            raise refusal(self.path, "is not a shard")
        return self._file["examples/place"][:]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_patterns(attention: Path | Patterns, card: dict[str, Any]) -> Patterns:
    """The cache at `attention`, of the model of `card`; or what a job gives in its place."""
    return attention if isinstance(attention, Patterns) else Cache(attention, card)


def join(shards: Sequence[Path], path: Path, card: dict[str, Any]) -> None:
    """Copy the examples of `shards` to one cache at `path`, byte for byte that without shards.

    One pattern at a time is in memory. Raises InputError where the shards are not those of one
    corpus by the model of `card`.
    """
    with ExitStack() as stack:
        caches = [stack.enter_context(Cache(shard, card)) for shard in shards]
        first, positions = caches[0], [cache.positions() for cache in caches]
        for cache in caches[1:]:
            about = (cache.meta, cache.n_layers, cache.marks)
            if about != (first.meta, first.n_layers, first.marks):
                raise InputError(
                    f"{cache.path}: differs in corpus or precision from {first.path}; "
                    "delete the shards and run again"
                )
        order = np.concatenate(positions).argsort(kind="stable")
        if not np.array_equal(np.concatenate(positions)[order], np.arange(len(order))):
            raise InputError(
                f"{first.path.parent}: the shards lack examples or share some; "
                "delete the shards and run again"
            )
        tokens = [_tokens(cache, index) for cache in caches for index in range(len(cache))]
        ordered = [tokens[index] for index in order]
        about = (first.n_layers, first.n_heads, first.meta)
        with CacheWriter(path, ordered, *about, marks=first.marks) as writer:
            for cache, of_shard in zip(caches, positions, strict=True):
                for position, example in zip(of_shard, cache, strict=True):
                    writer.write(int(position), example.pattern, example.outside)


def _tokens(cache: Cache, index: int) -> Tokens:
    """An example without its pattern, as the writer takes it."""
    flat = cache.tokens(index)
    # A cache does not store how many words there are, and the writer does not ask.
    return Tokens(id=cache.ids[index], n_words=0, **flat)
