"""One process at a time makes a job's products.

A job outlives a Snakemake that is killed, and the next run starts the same job again: both would
write the same partial files.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from workflow_scripts.core.errors import InputError

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of a file system that has none


@contextmanager
def locked(log: Path | None) -> Iterator[None]:
    """Within, no other process runs the job with this log; InputError where one does.

    The lock is on a file next to the log, which Snakemake would remove; it ends with the process.
    """
    if log is None:
        yield
        return
    path = log.with_name(log.name + ".lock")
    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{path}: another process, perhaps left by a killed run, still makes the products of "
            "this job; wait for its end or end it, then run again"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()
