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
