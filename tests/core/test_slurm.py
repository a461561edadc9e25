"""What is read of SLURM's queue."""

import asyncio
from collections.abc import AsyncIterator

from workflow_scripts.core.run import slurm

LISTED = """\
7|rule_extract_wildcards_tiny_sst2|/home/me/atlas
8_[1-3]|group_tiny|/home/me/atlas
9|(null)|/home/me/atlas
10|rule_extract|/home/me/a|b
"""


def test_jobs_of_a_folder_are_those_that_snakemake_submitted_from_it() -> None:
    assert slurm.jobs_of("/home/me/atlas", LISTED) == ["7", "8_[1-3]"]
    assert slurm.jobs_of("/home/me/a|b", LISTED) == ["10"]
    assert slurm.jobs_of("/home/me", LISTED) == []


def test_a_job_is_named_that_waits_for_what_does_not_come() -> None:
    listed = "1|rule_extract|PartitionConfig\n2|rule_finetune|Resources\n"
    (said,) = slurm.waiting_for_ever(listed)
    assert said.startswith("Job 1 in SLURM (rule_extract) waits, perhaps for ever: PartitionConfig")


def test_the_plugins_thread_may_look_before_the_plugin_is_set_up() -> None:
    class Executor:
        async def check_active_jobs(self, active_jobs: list[str]) -> AsyncIterator[str]:
            for job in active_jobs:
                yield job

    async def found() -> list[str]:
        return [job async for job in Executor().check_active_jobs([])]

    slurm.follow_on(Executor)
    assert asyncio.run(found()) == []
