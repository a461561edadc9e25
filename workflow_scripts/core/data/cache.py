"""The attention cache: every example's pattern in one HDF5 file, float16, unpadded.

Layout (format 2): `examples/id`; `tokens/offsets` and flat `tokens/ids`, `tokens/word`,
`tokens/segment`; `pattern/offsets` and flat `pattern/values`, where example i reshapes to
[layer, head, query, key]. The lengths are known before the first forward pass, so every example
has fixed offsets and batches may be written in any order.

Text has a fixed length, which keeps it out of HDF5's heaps: a damaged heap may be read for ever.

Every example has two CRC-32. `tokens/crc32` is over the file's header, the example's id and its
tokens, and is compared when the file is opened. `pattern/crc32` goes on from it over the pattern,
and is compared whenever the example is read.

A shard holds some examples of a corpus; its `examples/place` has their positions in the whole.
"""

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from workflow_scripts.core.data.cache_format import (
    FLAT,
    FORMAT,
    UNREADABLE,
    VERSION,
    header_crc32,
    offsets,
    open_complete,
    refusal,
    reserve,
    text_of,
    tokens_crc32,
)
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.run.errors import InputError, one_line


@dataclass(frozen=True)
class CachedExample:
    """One example with its pattern, float16 [layer, head, query, key]."""

    id: str
    ids: np.ndarray
    word: np.ndarray
    segment: np.ndarray
    pattern: np.ndarray


class CacheWriter:
    """Writes one cache, which is marked complete only if every example was written without error.

    `Cache` refuses a file that was not completed; a job writes to a partial path anyway.
    `positions`, int64 [n], makes it a shard: those of its examples in the whole corpus.
    """

    def __init__(
        self,
        path: Path,
        tokens: Sequence[Tokens],
        n_layers: int,
        n_heads: int,
        meta: dict,
        positions: np.ndarray | None = None,
    ) -> None:
        self.path = Path(path)
        self.shape, self._model = (n_layers, n_heads), meta.get("model", "unknown")
        self._ids = [example.id for example in tokens]
        self._lengths = np.array([len(example) for example in tokens], dtype=np.int64)
        self._offsets = offsets(self._lengths**2 * n_layers * n_heads)
        self._written = np.zeros(len(tokens), dtype=bool)
        self._file = h5py.File(self.path, "w", libver="latest")
        header = _write_header(self._file, n_layers, n_heads, meta)
        if positions is not None:
            self._file["examples/place"] = np.asarray(positions, np.int64)
        # Until its pattern is written, the checksum of an example is that of its tokens.
        self._crc32 = _write_tokens(self._file, tokens, self._lengths, header)
        self._file["pattern/offsets"] = self._offsets
        self._file["pattern/crc32"] = self._crc32
        # Contiguous, and not filled before it is written.
        self._values = self._file.create_dataset(
            "pattern/values", (int(self._offsets[-1]),), np.float16, fill_time="never"
        )
        reserve(self._file, 2 * int(self._offsets[-1]))

    def write(self, index: int, pattern: np.ndarray) -> None:
        """Store example `index`: pattern [layer, head, query, key] over its real tokens.

        Raises InputError where a weight is not finite.
        """
        length = self._lengths[index]
        if pattern.shape != (*self.shape, length, length):
            raise ValueError(f"example {index}: pattern {pattern.shape}, {length} tokens expected")
        if self._written[index]:
            raise ValueError(f"example {index} is written twice")
        flat = np.ascontiguousarray(pattern, dtype=np.float16).reshape(-1)
        if not np.isfinite(flat).all():
            raise InputError(
                f"{self.path}: the attention of model {self._model} on example "
                f"{self._ids[index]!r} is not finite; check its weights, or set precision: float32"
            )
        self._values[self._offsets[index] : self._offsets[index + 1]] = flat
        self._crc32[index] = zlib.crc32(flat, self._crc32[index])
        self._written[index] = True

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
                if not self._written.all():
                    missing = int((~self._written).sum())
                    raise RuntimeError(f"{self.path}: {missing} examples were never written")
                self._file["pattern/crc32"][:] = self._crc32
                self._file.flush()
                self._file.attrs["complete"] = True
                self._file.flush()
            used = self._file.id.get_filesize()
        finally:
            self._file.close()
        os.truncate(self.path, used)  # of the room that was reserved some may be left


class Cache:
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
        self.ids: list[str] = self._file["examples/id"].asstr()[:].tolist()
        self._token_offsets = self._file["tokens/offsets"][:]
        self._tokens = {name: self._file[f"tokens/{name}"][:] for name in FLAT}
        self._pattern_offsets = self._file["pattern/offsets"][:]
        self._token_crc32 = self._file["tokens/crc32"][:]
        self._pattern_crc32 = self._file["pattern/crc32"][:]
        self._values = self._file["pattern/values"]
        self._check_sizes()
        header = header_crc32(self.n_layers, self.n_heads, meta)
        for index, example_id in enumerate(self.ids):
            if tokens_crc32(example_id, self.tokens(index), header) != self._token_crc32[index]:
                raise self._damaged(index)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> CachedExample:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        first, last = self._pattern_offsets[index : index + 2]
        flat = {name: values.copy() for name, values in self.tokens(index).items()}
        try:
            values = self._values[first:last]
        except UNREADABLE as error:
            raise refusal(self.path, f"cannot be read ({one_line(error)})") from error
        if zlib.crc32(values, self._token_crc32[index]) != self._pattern_crc32[index]:
            raise self._damaged(index)
        length = len(flat["ids"])
        pattern = values.reshape(self.n_layers, self.n_heads, length, length)
        return CachedExample(id=self.ids[index], pattern=pattern, **flat)

    def __iter__(self) -> Iterator[CachedExample]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each example, int64 [n]."""
        return np.diff(self._token_offsets)

    def positions(self) -> np.ndarray:
        """Positions of a shard's examples in the whole corpus, int64 [n]."""
        if "examples/place" not in self._file:
            raise refusal(self.path, "is not a shard")
        return self._file["examples/place"][:]

    def expect(self, ids: Sequence[str], source: str) -> None:
        """Raise InputError unless the examples are those of `source`: `ids`, in this order."""
        if list(ids) != self.ids:
            raise InputError(f"{self.path}: the examples are not those of {source}; run again")

    def documents(self, corpus: Path) -> list[str]:
        """The document of each example, from the corpus file that the cache was made from.

        Raises InputError where that file has other examples.
        """
        examples = read_examples(corpus)
        self.expect([example.id for example in examples], str(corpus))
        return [example.document for example in examples]

    def flat(self, name: str) -> np.ndarray:
        """`ids`, `word` or `segment` of all examples, concatenated."""
        return self._tokens[name].copy()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tokens(self, index: int) -> dict[str, np.ndarray]:
        """Views of the token arrays of one example."""
        start, end = self._token_offsets[index : index + 2]
        return {name: values[start:end] for name, values in self._tokens.items()}

    def _check_sizes(self) -> None:
        lengths, n_maps = self.lengths, self.n_layers * self.n_heads
        for checksums in (self._token_crc32, self._pattern_crc32):
            if not len(self.ids) == len(lengths) == len(checksums):
                raise refusal(self.path, "is damaged: its examples differ in number")
        n_tokens = {len(values) for values in self._tokens.values()}
        first, last = self._token_offsets[[0, -1]]
        if first != 0 or {int(last)} != n_tokens or (lengths < 0).any():
            raise refusal(self.path, "is damaged: its token arrays have the wrong length")
        if not np.array_equal(self._pattern_offsets, offsets(lengths**2 * n_maps)):
            raise refusal(self.path, "is damaged: its patterns have the wrong offsets")
        if self._values.shape != (self._pattern_offsets[-1],):
            raise refusal(self.path, "is damaged: its pattern array has the wrong length")

    def _damaged(self, index: int) -> InputError:
        why = f"is damaged: example {index} ({self.ids[index]!r}) does not fit its CRC-32"
        return refusal(self.path, why)


def _write_header(file: h5py.File, n_layers: int, n_heads: int, meta: dict) -> int:
    """Write the attributes, `complete` still false; the header's checksum."""
    text = json.dumps(meta)
    file.attrs.update(format=np.bytes_(FORMAT.encode()), meta=np.bytes_(text.encode()))
    file.attrs.update(version=VERSION, complete=False, n_layers=n_layers, n_heads=n_heads)
    for name in ("examples", "tokens", "pattern"):
        file.create_group(name)  # a group that a dataset's path makes has the time in it
    return header_crc32(n_layers, n_heads, text)


def _write_tokens(
    file: h5py.File, tokens: Sequence[Tokens], lengths: np.ndarray, header: int
) -> np.ndarray:
    """Write the examples' ids and flat token arrays; the checksum of each, uint32 [n]."""
    ids = [example.id.encode() for example in tokens]
    longest = max(map(len, ids), default=1)
    file.create_dataset("examples/id", data=ids, dtype=h5py.string_dtype("utf-8", longest))
    file["tokens/offsets"] = offsets(lengths)
    checksums = np.empty(len(tokens), np.uint32)
    arrays: dict[str, list[np.ndarray]] = {name: [] for name in FLAT}
    for index, example in enumerate(tokens):
        flat = {name: getattr(example, name).astype(dtype) for name, dtype in FLAT.items()}
        checksums[index] = tokens_crc32(example.id, flat, header)
        for name, values in flat.items():
            arrays[name].append(values)
    for name, dtype in FLAT.items():
        file[f"tokens/{name}"] = np.concatenate([np.empty(0, dtype), *arrays[name]])
    file["tokens/crc32"] = checksums
    return checksums
