"""Jobs handed to a stand-in for a scheduler: a script that starts them in the background."""

from pathlib import Path

SUBMITTED = ("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "./submit.sh")
SUBMITTED += ("--jobs", "2", "--latency-wait", "5", "--retries", "0")
SUBMITTED += ("--seconds-between-status-checks", "1")
# The job's own output, where a scheduler writes that of the job with the number of the process.
OUTPUT = "jobs.out"


def submit_script(folder: Path, before: str = ":", instead: str = "") -> None:
    """Write submit.sh, which runs `before` and then the job; or runs `instead` at once."""
    run = f"({before}; sh $1) >> {OUTPUT} 2>&1 & echo $!"
    (folder / "submit.sh").write_text(f"#!/bin/sh\n{instead or run}\n")
    (folder / "submit.sh").chmod(0o755)
