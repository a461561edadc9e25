"""On a SLURM cluster: jobs of an earlier head that are still in the queue."""

import subprocess

from workflow_scripts.core.errors import InputError

# Of each job of this user in the queue: its id, the folder and the comment it was submitted with.
QUEUE = ("squeue", "--me", "--noheader", "--format=%i|%k|%Z")


def check_none_left(folder: str) -> None:
    """Refuse to start while jobs that an earlier head submitted from `folder` are in the queue.

    They would write the same products as the new head's jobs.
    """
    listed = subprocess.run(QUEUE, capture_output=True, text=True)  # noqa: S603
    if listed.returncode != 0:
        raise InputError(f"SLURM does not answer, try again later: {listed.stderr.strip()}")
    if left := jobs_of(folder, listed.stdout):
        raise InputError(
            f"{folder}: jobs of an earlier run are still in SLURM's queue; wait for their end "
            f"(squeue --me), or end them: scancel {' '.join(left)}"
        )


def jobs_of(folder: str, listed: str) -> list[str]:
    """The ids of Snakemake's jobs that were submitted from a folder, of the lines of `QUEUE`.

    Other jobs, such as the one that Snakemake itself runs in, have other comments.
    """
    fields = [line.split("|", 2) for line in listed.splitlines()]
    return [
        number
        for number, comment, submitted_from in fields
        if submitted_from == folder and comment.startswith(("rule_", "group_"))
    ]
