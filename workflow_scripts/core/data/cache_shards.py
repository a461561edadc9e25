"""Shards of one corpus as one cache: an HDF5 virtual dataset, so that no pattern is copied."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from workflow_scripts.core.data.cache import FLAT, Cache, offsets, write_header
from workflow_scripts.core.run.errors import InputError


def join(shards: Sequence[Path], path: Path, target: Path | None = None) -> None:
    """Write at `path` a cache over `shards`, in their order; the shards must not be moved.

    The file refers to them relative to `target`, its final path (default `path`).
    Raises InputError where they were not made by one model.
    """
    folder = (target or path).absolute().parent
    caches = [Cache(shard) for shard in shards]
    first = caches[0]
    for cache in caches[1:]:
        if cache.meta != first.meta or cache.n_layers != first.n_layers:
            raise InputError(
                f"{cache.path}: differs in model or corpus from {first.path}; "
                "delete the shards and run again"
            )
    lengths = np.concatenate([cache.lengths for cache in caches])
    with h5py.File(path, "w", libver="latest") as file:
        write_header(file, first.n_layers, first.n_heads, first.meta)
        names = [os.path.relpath(Path(shard).absolute(), folder) for shard in shards]
        sizes = [cache.n_values for cache in caches]
        file.attrs["shards"] = json.dumps(list(zip(names, sizes, strict=True)))
        ids = [example_id for cache in caches for example_id in cache.ids]
        file["examples/id"] = np.array(ids, dtype=h5py.string_dtype())
        file["tokens/offsets"] = offsets(lengths)
        for name, dtype in FLAT.items():
            arrays = [cache.flat(name) for cache in caches]
            file[f"tokens/{name}"] = np.concatenate(arrays).astype(dtype)
        file["pattern/offsets"] = offsets(lengths**2 * first.n_layers * first.n_heads)
        _link(file, names, sizes)
        for cache in caches:
            cache.close()
        file.flush()
        file.attrs["complete"] = True


def _link(file: h5py.File, names: list[str], sizes: list[int]) -> None:
    layout = h5py.VirtualLayout(shape=(sum(sizes),), dtype=np.float16)
    start = 0
    for name, size in zip(names, sizes, strict=True):
        source = h5py.VirtualSource(name, "pattern/values", shape=(size,))
        layout[start : start + size] = source
        start += size
    file.create_virtual_dataset("pattern/values", layout)
