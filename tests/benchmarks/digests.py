"""The digest of a large file, such as a checkpoint's weights: read anew, and remembered.

`ratio` is the time to read it over the time to recall it. Five jobs then write and read a
checkpoint of that size; `reads` counts how often its weights were read to digest them. `--full`
takes 2 GB.
"""

import os
import tempfile
import time
from pathlib import Path

from common import alternate, arguments, report

from workflow_scripts.core.integrity import digests
from workflow_scripts.core.run.job import Out, call

MB = 10**6
ROUNDS, READERS = 5, 4


def main() -> None:
    """Measure in a directory of its own, which counts as one where Snakemake works."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    size = 2000 if options.full else 500
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        digests.FOLDER.parent.mkdir()
        path = Path("weights")
        write_random(path, size)
        sides = {
            "read": lambda: digests.sha256(path, anew=True),
            "recall": lambda: digests.sha256(path),
        }
        rounds = alternate(sides, ROUNDS)
        before = time.process_time()
        digests.sha256(path, anew=True)
        processor = time.process_time() - before
        path.unlink()
        reads = reads_of_jobs(size)
    report(
        "digests",
        rounds.others,
        ratio=rounds.ratio("read", "recall"),
        span=rounds.span("read", "recall"),
        reads=reads,
        detail={"megabytes": size, "seconds": rounds.seconds, "processor_seconds": processor},
    )


def write_random(path: Path, size: int) -> None:
    """A file of `size` megabytes."""
    block = os.urandom(MB)
    with path.open("wb") as file:
        for _ in range(size):
            file.write(block)


def reads_of_jobs(size: int) -> int:
    """How often a checkpoint is read by the job that writes it and by those that use it."""
    read, count = digests._read, 0

    def counted(file) -> str:
        nonlocal count
        count += Path(file.name).name == "weights"
        return read(file)

    def save(checkpoint: Out) -> None:
        checkpoint.mkdir()
        write_random(checkpoint / "weights", size)

    def use(checkpoint: Path, table: Out) -> None:
        table.touch()

    digests._read = counted
    call(save, {"checkpoint": Path("results/study/checkpoint")})
    for number in range(READERS):
        table = Path(f"results/study/{number}.csv")
        call(use, {"checkpoint": Path("results/study/checkpoint"), "table": table})
    return count


if __name__ == "__main__":
    main()
