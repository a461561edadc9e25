"""What is read of SLURM's queue."""

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
