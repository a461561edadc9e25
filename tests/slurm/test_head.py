"""Snakemake itself is killed while its jobs run on, to their end or not."""

from tests.slurm.small_study import SmallStudy, wait_for


def killed_while_its_job_runs(study: SmallStudy) -> str:
    """Start the study and kill its head with SIGKILL; the id of the job that runs on."""
    head = study.start()
    study.wait_for_half()
    head.kill()
    head.wait()
    (job,) = study.jobs()
    assert job["JobState"] == "RUNNING"
    return job["JobId"]


def test_its_jobs_end_and_their_products_count(small_study: SmallStudy) -> None:
    job = killed_while_its_job_runs(small_study)
    assert small_study.run() == 1
    assert "--unlock" in small_study.log()
    assert small_study.run("--unlock") == 0
    assert small_study.run() == 1
    assert "jobs of an earlier run are still in SLURM's queue" in small_study.log()
    assert f"scancel {job}" in small_study.log()
    small_study.go()
    wait_for(lambda: small_study.states() == ["COMPLETED"], small_study.log)
    assert small_study.run("--unlock") == 0
    assert small_study.run() == 0, small_study.log()
    assert small_study.states() == ["COMPLETED"]
    assert small_study.table() == "whole\n"


def test_what_a_job_left_half_written_is_made_anew(small_study: SmallStudy) -> None:
    job = killed_while_its_job_runs(small_study)
    small_study.cluster.cut_power()
    assert small_study.half_written()
    small_study.cluster.output("scancel", job)
    small_study.cluster.start_slurmd()
    wait_for(lambda: small_study.states() == ["CANCELLED"], small_study.log)
    small_study.go()
    assert small_study.run("--unlock") == 0
    assert small_study.run() == 0, small_study.log()
    assert small_study.starts() == 2
    assert small_study.table() == "whole\n"
