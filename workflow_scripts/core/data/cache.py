"""The attention cache: every example's pattern in one HDF5 file, float16, unpadded.

Layout (format 1): `examples/id`; `tokens/offsets` and flat `tokens/ids`, `tokens/word`,
`tokens/segment`; `pattern/offsets` and flat `pattern/values`, where example i reshapes to
[layer, head, query, key]. The lengths are known before the first forward pass, so every example
has fixed offsets and batches may be written in any order.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.run.errors import InputError

FORMAT = "attention-atlas cache"
VERSION = 1
FLAT = {"ids": np.int32, "word": np.int32, "segment": np.int8}


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
    """

    def __init__(
        self, path: Path, tokens: Sequence[Tokens], n_layers: int, n_heads: int, meta: dict
    ) -> None:
        self.path = Path(path)
        self.shape = (n_layers, n_heads)
        self._written = np.zeros(len(tokens), dtype=bool)
        self._file = h5py.File(self.path, "w", libver="latest")
        write_header(self._file, n_layers, n_heads, meta)
        lengths = np.array([len(example) for example in tokens], dtype=np.int64)
        write_tokens(self._file, tokens, lengths)
        self._offsets = offsets(lengths**2 * n_layers * n_heads)
        self._file["pattern/offsets"] = self._offsets
        # Contiguous, and not filled before it is written.
        self._values = self._file.create_dataset(
            "pattern/values", (int(self._offsets[-1]),), np.float16, fill_time="never"
        )
        self._lengths = lengths

    def write(self, index: int, pattern: np.ndarray) -> None:
        """Store example `index`: pattern [layer, head, query, key] over its real tokens."""
        length = self._lengths[index]
        if pattern.shape != (*self.shape, length, length):
            raise ValueError(f"example {index}: pattern {pattern.shape}, {length} tokens expected")
        flat = np.ascontiguousarray(pattern, dtype=np.float16).reshape(-1)
        self._values[self._offsets[index] : self._offsets[index + 1]] = flat
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
                self._file.flush()
                self._file.attrs["complete"] = True
        finally:
            self._file.close()


class Cache:
    """A complete attention cache, read-only: random access and iteration, one example at a time.

    `model` is the content of the model's model.json; a cache of other weights is then refused.
    Raises InputError, saying which, for a truncated, foreign, older or other model's file.
    """

    def __init__(self, path: Path, model: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        self._file = _open(self.path)
        attrs = self._file.attrs
        self.meta: dict[str, Any] = json.loads(attrs["meta"])
        self.n_layers, self.n_heads = int(attrs["n_layers"]), int(attrs["n_heads"])
        if model is not None and self.meta.get("weights") != model["weights"]:
            name = self.meta.get("model", "unknown")
            self._refuse(f"was made by another model ({name}) than asked for ({model['name']})")
        self.ids: list[str] = self._file["examples/id"].asstr()[:].tolist()
        self._token_offsets = self._file["tokens/offsets"][:]
        self._tokens = {name: self._file[f"tokens/{name}"][:] for name in FLAT}
        self._pattern_offsets = self._file["pattern/offsets"][:]
        self._check_sizes()
        self._check_shards()

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> CachedExample:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        start, end = self._token_offsets[index : index + 2]
        first, last = self._pattern_offsets[index : index + 2]
        flat = {name: values[start:end].copy() for name, values in self._tokens.items()}
        shape = (self.n_layers, self.n_heads, end - start, end - start)
        pattern = self._file["pattern/values"][first:last].reshape(shape)
        return CachedExample(id=self.ids[index], pattern=pattern, **flat)

    def __iter__(self) -> Iterator[CachedExample]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each example, int64 [n]."""
        return np.diff(self._token_offsets)

    @property
    def n_values(self) -> int:
        """Number of attention weights of all examples."""
        return int(self._pattern_offsets[-1])

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

    def _check_sizes(self) -> None:
        tokens, values = self._token_offsets[-1], self._pattern_offsets[-1]
        if any(len(values) != tokens for values in self._tokens.values()):
            self._refuse("is damaged: its token arrays have the wrong length")
        if len(self._file["pattern/values"]) != values:
            self._refuse("is damaged: its pattern array has the wrong length")

    def _check_shards(self) -> None:
        """Refuse lost and changed shards, for which HDF5 would read zeros."""
        for name, size in json.loads(self._file.attrs.get("shards", "[]")):
            shard = self.path.parent / name
            if not shard.is_file():
                self._refuse(f"has lost its shard {shard}")
            with Cache(shard) as cache:
                if cache.meta != self.meta or cache.n_values != size:
                    self._refuse(f"does not fit its shard {shard}")

    def _refuse(self, why: str) -> None:
        self._file.close()
        raise refusal(self.path, why)


def refusal(path: Path, why: str) -> InputError:
    """The error for a cache that must not be read."""
    return InputError(f"{path}: {why}; delete it and run again")


def _open(path: Path) -> h5py.File:
    if not path.is_file():
        raise InputError(f"{path}: no such attention cache; run the extraction first")
    try:
        file = h5py.File(path, "r", locking=False)
    except OSError as error:
        raise refusal(path, f"is truncated or not an HDF5 file ({error})") from error
    attrs = dict(file.attrs)
    if attrs.get("format") != FORMAT:
        why = "is not an attention cache"
    elif attrs.get("version") != VERSION:
        why = f"has cache format {attrs.get('version')}, this program reads format {VERSION}"
    elif not attrs.get("complete", False):
        why = "is not complete: the extraction was interrupted"
    else:
        return file
    file.close()
    raise refusal(path, why)


def write_header(file: h5py.File, n_layers: int, n_heads: int, meta: dict) -> None:
    """Write the attributes of a cache; `complete` stays false until all is written."""
    file.attrs.update(format=FORMAT, version=VERSION, complete=False, meta=json.dumps(meta))
    file.attrs.update(n_layers=n_layers, n_heads=n_heads)


def write_tokens(file: h5py.File, tokens: Sequence[Tokens], lengths: np.ndarray) -> None:
    """Write the examples' ids and their flat token arrays."""
    file["examples/id"] = np.array([example.id for example in tokens], dtype=h5py.string_dtype())
    file["tokens/offsets"] = offsets(lengths)
    for name, dtype in FLAT.items():
        arrays = [getattr(example, name) for example in tokens]
        file[f"tokens/{name}"] = np.concatenate(arrays).astype(dtype)


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Start of each item in a flat array, and its end: int64 [n + 1]."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
