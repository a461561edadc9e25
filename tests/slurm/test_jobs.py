"""A job that is cancelled, that needs more memory, or that no node can run."""

from pathlib import Path

from tests.slurm.cluster import Cluster
from tests.slurm.small_study import SmallStudy, wait_for

# Takes about 1000 MB for some seconds.
HUNGRY = "python3 -c 'import time; x = bytearray(1000 * 2**20); time.sleep(4)'"


def test_a_cancelled_job_is_made_anew(small_study: SmallStudy) -> None:
    head = small_study.start()
    small_study.wait_for_half()
    cluster, (job,) = small_study.cluster, small_study.ids()
    cluster.output("scancel", job)
    wait_for(lambda: len(small_study.ids()) == 2, small_study.log)
    small_study.wait_for_half()
    small_study.go()
    assert small_study.end(head) == 0, small_study.log()
    assert small_study.states() == ["CANCELLED", "COMPLETED"]
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in small_study.log()
    assert small_study.table() == small_study.expected


def test_a_job_over_its_memory_is_killed_and_given_more(cluster: Cluster, tmp_path: Path) -> None:
    study = SmallStudy(tmp_path, cluster, MEMORY="700", WORK=HUNGRY)
    study.go()
    assert study.run() == 0, study.log()
    assert study.states() == ["FAILED", "COMPLETED"]
    requests = [job["MinMemoryNode"] for job in study.jobs()]
    assert requests == ["700M", "1400M"]
    log = study.log_of_job(0)
    assert "exceeded memory limit" in log
    assert study.table() == study.expected
