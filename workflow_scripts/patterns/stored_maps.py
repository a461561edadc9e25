"""Maps stored next to their annotations: fine-tuned ones, which no other machine computes alike."""

from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.patterns.annotated_maps import Annotation, Map

COLUMNS = ("model", "corpus", "example", "layer", "head", "tokens")


def write_maps(path: Path, keys: Sequence[tuple], maps: Sequence[tuple[np.ndarray, ...]]) -> None:
    """Write maps as an HDF5 file; `keys` has the values of COLUMNS of each.

    A map is a pattern [query, key], kept as float16, with `special` (bool) and `segment`, both [L].
    """
    patterns, special, segments = zip(*maps, strict=True)
    with h5py.File(path, "w") as file:
        file["key"] = ["/".join(map(str, key)) for key in keys]
        file["length"] = np.array([len(pattern) for pattern in patterns], dtype=np.int32)
        values = np.concatenate([np.ravel(pattern) for pattern in patterns]).astype(np.float16)
        file.create_dataset("pattern", data=values, compression="gzip", shuffle=True)
        file["special"] = np.concatenate(special).astype(bool)
        file["segment"] = np.concatenate(segments).astype(np.int8)


def stored_maps(path: Path, annotations: Sequence[Annotation]) -> list[Map]:
    """The annotated maps in a file that `write_maps` wrote.

    Raises InputError if one is missing or the file is damaged.
    """
    try:
        with h5py.File(path) as file:
            keys = file["key"].asstr()[:].tolist()
            lengths = file["length"][:]
            patterns = np.split(file["pattern"][:], np.cumsum(lengths**2)[:-1])
            special, segments = (
                np.split(file[name][:], np.cumsum(lengths)[:-1]) for name in ("special", "segment")
            )
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{path}: not a file of maps ({error}); draw the sheets again") from error
    if any(pattern.size != length**2 for pattern, length in zip(patterns, lengths, strict=True)):
        raise InputError(f"{path}: maps of other sizes than it states; draw the sheets again")
    index_of = {key: index for index, key in enumerate(keys)}
    maps = []
    for annotation in annotations:
        key = "/".join(str(getattr(annotation, column)) for column in COLUMNS)
        if key not in index_of:
            raise InputError(f"{annotation.source}: {path} has no map {key}; store it, too")
        index = index_of[key]
        pattern = patterns[index].reshape(lengths[index], lengths[index])
        maps.append(Map(annotation, pattern, special[index], segments[index]))
    return maps
