"""On a SLURM cluster: jobs without an answer, jobs that wait for ever, jobs of an earlier head."""

import functools
import subprocess
from collections.abc import AsyncIterator
from typing import Any

from workflow_scripts.core.run.errors import InputError

# Of each waiting job of a run: its id, its comment, which names its rule, and what it waits for.
WAITING = ("squeue", "--noheader", "--states=PENDING", "--format=%i|%k|%r", "--name")
# What does not change by itself.
FOR_EVER = {"PartitionConfig", "PartitionTimeLimit", "BadConstraints", "InvalidAccount"}
FOR_EVER |= {"InvalidQOS", "JobHeldUser", "JobHeldAdmin", "launch failed requeued held"}
# Of each job of this user in the queue: its id, the folder and the comment it was submitted with.
QUEUE = ("squeue", "--me", "--noheader", "--format=%i|%k|%Z")


def follow_on(executor: type[Any]) -> None:
    """Make Snakemake's plugin go on following jobs while SLURM does not answer.

    The plugin (2.8.0) forgets its jobs when every query for their states fails, as it does while
    slurmctld or munged is down, and Snakemake then waits for them for ever. It also says nothing
    of jobs that wait in the queue for something that will not come.
    """
    check = executor.check_active_jobs
    said: set[str] = set()
    if hasattr(check, "__wrapped__"):
        return

    @functools.wraps(check)
    async def check_active_jobs(self: Any, active_jobs: list[Any]) -> AsyncIterator[Any]:
        if not active_jobs:  # the plugin's thread looks before the plugin has its attributes
            return
        answers = self._status_query_calls
        async for job in check(self, active_jobs):
            yield job
        if self._status_query_calls == answers:
            self.logger.warning(f"SLURM gives no answer; {len(active_jobs)} jobs are followed on.")
            for job in active_jobs:
                yield job
        waiting = subprocess.run([*WAITING, self.run_uuid], capture_output=True, text=True)  # noqa: S603
        for warning in waiting_for_ever(waiting.stdout) - said:
            said.add(warning)
            self.logger.warning(warning)

    executor.check_active_jobs = check_active_jobs


def waiting_for_ever(listed: str) -> set[str]:
    """What to say of jobs in the lines of `WAITING` that wait for what does not come by itself."""
    fields = [line.split("|", 2) for line in listed.splitlines()]
    return {
        f"Job {number} in SLURM ({comment}) waits, perhaps for ever: {reason}. See `scontrol show "
        f"job {number}`; then `scontrol release {number}` if it is held, or `scancel {number}`."
        for number, comment, reason in fields
        if reason in FOR_EVER
    }


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
