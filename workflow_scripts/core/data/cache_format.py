"""The format of an attention cache: its version and arrays, and how one is refused."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError, one_line

FORMAT = "attention-atlas cache"
VERSION = 2
FLAT = {"ids": np.int32, "word": np.int32, "segment": np.int8}
# Attributes that are written where they hold: only keys up to the query are stored, which are all
# that a decoder sees; rows sum to less than 1, and what is missing is stored.
MARKS = ("triangular", "sinks")
# What h5py raises on a damaged file.
UNREADABLE = (KeyError, OSError, RuntimeError, TypeError, ValueError)


def n_weights(lengths: np.ndarray, triangular: bool) -> np.ndarray:
    """How many weights of a head are stored of texts of so many tokens, int64 [n]."""
    return lengths * (lengths + 1) // 2 if triangular else lengths**2


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

    Raises OSError where there is no room: before the first pattern is computed, and while HDF5,
    which does not survive a full disk, can still close the file.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.id.get_vfd_handle(), 0, file.id.get_filesize() + n_bytes)
    except OSError:
        file.close()
        raise


def text_of(value: str | bytes) -> str:
    """An attribute's text: bytes since format 2, str before."""
    return value.decode() if isinstance(value, bytes) else value


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
        name = text_of(attrs.get("format", ""))
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


def write_header(
    file: h5py.File, n_layers: int, n_heads: int, meta: dict, marks: Sequence[str]
) -> None:
    """Write the attributes, `complete` still false."""
    text = json.dumps(meta)
    file.attrs.update(format=np.bytes_(FORMAT.encode()), meta=np.bytes_(text.encode()))
    file.attrs.update(version=VERSION, complete=False, n_layers=n_layers, n_heads=n_heads)
    file.attrs.update(dict.fromkeys(marks, True))
    for name in ("examples", "tokens", "pattern"):
        file.create_group(name)  # a group that a dataset's path makes has the time in it


def write_tokens(file: h5py.File, tokens: Sequence[Tokens], lengths: np.ndarray) -> None:
    """Write the examples' ids and flat token arrays."""
    ids = [example.id.encode() for example in tokens]
    longest = max(map(len, ids), default=1)
    file.create_dataset("examples/id", data=ids, dtype=h5py.string_dtype("utf-8", longest))
    file["tokens/offsets"] = offsets(lengths)
    for name, dtype in FLAT.items():
        arrays = [getattr(example, name).astype(dtype) for example in tokens]
        file[f"tokens/{name}"] = np.concatenate([np.empty(0, dtype), *arrays])
