"""The format of an attention cache: its version, arrays and checksums, and how one is refused."""

import os
import zlib
from pathlib import Path

import h5py
import numpy as np

from workflow_scripts.core.run.errors import InputError, one_line

FORMAT = "attention-atlas cache"
VERSION = 2
FLAT = {"ids": np.int32, "word": np.int32, "segment": np.int8}
# What h5py raises on a damaged file.
UNREADABLE = (KeyError, OSError, RuntimeError, TypeError, ValueError)


def header_crc32(n_layers: int, n_heads: int, meta: str) -> int:
    """The checksum from which those of the examples go on."""
    return zlib.crc32(f"{n_layers} {n_heads} {meta}".encode())


def tokens_crc32(example_id: str, flat: dict[str, np.ndarray], header: int) -> int:
    """The checksum of an example's id and of its arrays of FLAT, going on from the header's."""
    checksum = zlib.crc32(example_id.encode(), header)
    for values in flat.values():
        checksum = zlib.crc32(values, checksum)
    return checksum


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
