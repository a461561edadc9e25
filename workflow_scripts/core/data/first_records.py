"""The start of a large file, so that a reader of whole files sees its first records alone."""

import gzip
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_below

LARGE = 8_000_000  # bytes
LINES = 2000
T = TypeVar("T")


def is_large(path: Path) -> bool:
    """Whether a file, or the files of a directory together, have more than LARGE bytes."""
    return sum(file.stat().st_size for file in files_below(path)) > LARGE


def read_start(path: Path, folder: Path, read: Callable[[Path], T]) -> T:
    """What `read` makes of `path`, a file of lines or a directory of such files.

    Of each large file it is given the first LINES lines, copied below `folder`. An InputError
    names the file itself.
    """
    if not path.exists() or not is_large(path):
        return read(path)
    start = folder / f"{len(list(folder.iterdir()))}-{path.name}"
    if path.is_dir():
        for file in files_below(path):
            _copy_start(file, start / file.relative_to(path))
    else:
        _copy_start(path, start)
    with named_after(start, path):
        return read(start)


@contextmanager
def named_after(copy: Path, original: Path) -> Iterator[None]:
    """Within, an InputError that names `copy` is raised again with the original's name."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(original))) from error


def _copy_start(file: Path, target: Path) -> None:
    """A copy of a file, of its first lines where it is large."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not is_large(file):
        shutil.copyfile(file, target)
        return
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rb") as source, opened(target, "wb") as sink:
        sink.writelines(islice(source, LINES))
