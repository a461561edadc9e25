"""One process at a time makes a job's products.

A job outlives a Snakemake that is killed, and the next run starts the same job again: both would
write the same partial files.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from workflow_scripts.core.run.errors import InputError

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of a file system that has none


@contextmanager
def held(log: Path | None) -> Iterator[None]:
    """Within, no other process runs the job with this log; InputError where one does.

    The lock is on a file beside the log, which Snakemake would remove; it ends with the process.
    """
    if log is None:
        yield
        return
    path = log.with_name(log.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(path: Path) -> TextIO:
    """The file at `path`, locked; not one that its last holder has just removed."""
    while True:
        file = path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{path}: another process, perhaps left by a killed run, still makes the "
                "products of this job; wait for its end or end it, then run again"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            return file
        if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
            return file
        file.close()
