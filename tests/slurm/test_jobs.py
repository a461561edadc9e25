"""A job that is cancelled."""

from tests.slurm.small_study import SmallStudy, wait_for


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
