"""The attention cache: every example's pattern in one HDF5 file, float16, unpadded.

Layout (format 2): `examples/id`; `tokens/offsets` and flat `tokens/ids`, `tokens/word`,
`tokens/segment`; `pattern/offsets` and flat `pattern/values`, where example i reshapes to
[layer, head, query, key]; in the cache of a decoder, with the attribute `triangular`, to [layer,
head, weight], the keys up to each query, one query after the other. Of a model with sinks, with the
attribute `sinks`, `pattern/outside` has what is missing of each row's sum of 1, flat [layer, head,
query], float32. The lengths are known before the first forward pass, so every example has fixed
offsets and batches may be written in any order.

Text has a fixed length, which keeps it out of HDF5's heaps: a damaged heap may be read for ever.

Every example has two CRC-32. `tokens/crc32` is over the file's header, the example's id and its
tokens, and is compared when the file is opened. `pattern/crc32` goes on from it over the pattern,
layer by layer, each with what is outside, and is compared whenever the example is read.

A shard holds some examples of a corpus; its `examples/place` has their positions in the whole.
"""

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from workflow_scripts.core.data.cache_format import (
    FLAT,
    MARKS,
    UNREADABLE,
    header_crc32,
    n_weights,
    offsets,
    open_complete,
    refusal,
    reserve,
    square,
    text_of,
    tokens_crc32,
    triangle,
    write_header,
    write_tokens,
)
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError, one_line


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
        self._written = np.zeros(len(tokens), dtype=int)  # layers of each example
        self._file = h5py.File(self.path, "w", libver="latest")
        header = write_header(self._file, n_layers, n_heads, meta, marks)
        if positions is not None:
            self._file["examples/place"] = np.asarray(positions, np.int64)
        # Until its pattern is written, the checksum of an example is that of its tokens.
        self._crc32 = write_tokens(self._file, tokens, self._lengths, header)
        self._file["pattern/offsets"] = self._offsets
        self._file["pattern/crc32"] = self._crc32
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
        """Store a layer of example `index`, after those before it: [head, query, key].

        Raises InputError where a weight is not finite, or in a triangular cache not 0 on a key
        after the query.
        """
        if self._written[index] != layer:
            raise ValueError(f"example {index}: layer {layer} is written twice or out of order")
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
        self._crc32[index] = zlib.crc32(flat, self._crc32[index])
        if self._outside is not None:
            rows = np.ascontiguousarray(outside, dtype=np.float32).reshape(-1)
            start = self._rows[index] + layer * len(rows)
            self._outside[start : start + len(rows)] = rows
            self._crc32[index] = zlib.crc32(rows, self._crc32[index])
        self._written[index] += 1

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
                if missing := int((self._written < self.shape[0]).sum()):
                    raise RuntimeError(f"{self.path}: {missing} examples were never written")
                self._file["pattern/crc32"][:] = self._crc32
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
    Raises InputError, with the reason, for a truncated, damaged, foreign, older or other model's
    file; a damaged pattern is found when its example is read.
    """

    def __init__(self, path: Path, card: dict[str, Any]) -> None:
        self.path = Path(path)
        self._file = open_complete(self.path)
        try:
            self._read_tokens()
        except InputError:
            self.close()
            raise
        except UNREADABLE as error:
            self.close()
            raise refusal(self.path, f"is damaged ({one_line(error)})") from error
        if self.meta.get("weights") != card["weights"]:
            self.close()
            name = self.meta.get("model", "unknown")
            why = f"was made by another model ({name}) than asked for ({card['name']})"
            raise refusal(self.path, why)

    def _read_tokens(self) -> None:
        """Read all but the patterns, and compare it with its checksums."""
        attrs = self._file.attrs
        meta = text_of(attrs["meta"])
        self.meta: dict[str, Any] = json.loads(meta)
        self.n_layers, self.n_heads = int(attrs["n_layers"]), int(attrs["n_heads"])
        self.marks = tuple(name for name in MARKS if attrs.get(name, False))
        self.ids: list[str] = self._file["examples/id"].asstr()[:].tolist()
        self._token_offsets = self._file["tokens/offsets"][:]
        self._tokens = {name: self._file[f"tokens/{name}"][:] for name in FLAT}
        self._pattern_offsets = self._file["pattern/offsets"][:]
        self._token_crc32 = self._file["tokens/crc32"][:]
        self._pattern_crc32 = self._file["pattern/crc32"][:]
        self._values = self._file["pattern/values"]
        self._outside = self._file["pattern/outside"] if "sinks" in self.marks else None
        self.n_parts = len(self)
        self._check_sizes()
        header = header_crc32(self.n_layers, self.n_heads, meta, self.marks)
        for index, example_id in enumerate(self.ids):
            if tokens_crc32(example_id, self.tokens(index), header) != self._token_crc32[index]:
                raise self._damaged(index)

    def __getitem__(self, index: int) -> CachedExample:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        first, last = self._pattern_offsets[index : index + 2]
        flat = {name: values.copy() for name, values in self.tokens(index).items()}
        maps, length = (self.n_layers, self.n_heads), len(flat["ids"])
        outside = None
        try:
            values = self._values[first:last].reshape(*maps, -1)
            if self._outside is not None:
                start, end = self._token_offsets[index : index + 2] * np.prod(maps)
                outside = self._outside[start:end].reshape(*maps, length)
        except UNREADABLE as error:
            raise refusal(self.path, f"cannot be read ({one_line(error)})") from error
        checksum = int(self._token_crc32[index])
        for layer in range(self.n_layers):
            checksum = zlib.crc32(values[layer], checksum)
            checksum = checksum if outside is None else zlib.crc32(outside[layer], checksum)
        if checksum != self._pattern_crc32[index]:
            raise self._damaged(index)
        if "triangular" in self.marks:
            pattern = square(values, length)
        else:
            pattern = values.reshape(*maps, length, length)
        about = {"id": self.ids[index], "index": index, "outside": outside}
        return CachedExample(pattern=pattern, **about, **flat)

    def __iter__(self) -> Iterator[CachedExample]:
        return self.whole(len(self))

    def whole(self, n: int) -> Iterator[CachedExample]:
        """The first `n` examples, each with all layers, in their order."""
        return (self[index] for index in range(n))

    def positions(self) -> np.ndarray:
        """Positions of a shard's examples in the whole corpus, int64 [n]."""
        if "examples/place" not in self._file:
            raise refusal(self.path, "is not a shard")
        return self._file["examples/place"][:]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check_sizes(self) -> None:
        lengths, n_maps = self.lengths, self.n_layers * self.n_heads
        for checksums in (self._token_crc32, self._pattern_crc32):
            if not len(self.ids) == len(lengths) == len(checksums):
                raise refusal(self.path, "is damaged: its examples differ in number")
        n_tokens = {len(values) for values in self._tokens.values()}
        first, last = self._token_offsets[[0, -1]]
        if first != 0 or {int(last)} != n_tokens or (lengths < 0).any():
            raise refusal(self.path, "is damaged: its token arrays have the wrong length")
        sizes = n_weights(lengths, "triangular" in self.marks) * n_maps
        if not np.array_equal(self._pattern_offsets, offsets(sizes)):
            raise refusal(self.path, "is damaged: its patterns have the wrong offsets")
        if self._values.shape != (self._pattern_offsets[-1],):
            raise refusal(self.path, "is damaged: its pattern array has the wrong length")
        if self._outside is not None and self._outside.shape != (last * n_maps,):
            raise refusal(self.path, "is damaged: its weights outside have the wrong length")

    def _damaged(self, index: int) -> InputError:
        why = f"is damaged: example {index} ({self.ids[index]!r}) does not fit its CRC-32"
        return refusal(self.path, why)


def open_patterns(attention: Path | Patterns, card: dict[str, Any]) -> Patterns:
    """The cache at `attention`, of the model of `card`; or what a job gives in its place."""
    return attention if isinstance(attention, Patterns) else Cache(attention, card)
