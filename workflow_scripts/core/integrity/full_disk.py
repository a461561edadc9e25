"""A full disk, however the library that met it reports it."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


def met_by(error: BaseException | None) -> bool:
    """Whether an error, or one during whose handling it came up, reports that a disk is full.

    HDF5, Arrow and safetensors have the system's words in theirs, not always its number.
    """
    while error is not None:
        known = isinstance(error, OSError) and error.errno in FULL
        if known or any(os.strerror(number) in str(error) for number in FULL):
            return True
        error = error.__cause__ or error.__context__
    return False


def give_back(paths: Iterable[Path]) -> None:
    """Empty files that will be removed: one that is still open would keep its room."""
    for path in paths:
        if path.is_file() and not path.is_symlink():
            os.truncate(path, 0)


def message(folder: Path) -> str:
    """What the user does about a disk on which `folder` lies."""
    return f"{folder}: no space left on the device; make room and run again"
