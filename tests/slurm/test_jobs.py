"""A job is cancelled, or SLURM's controller dies while it runs and comes back."""

import time

from tests.slurm.small_study import SmallStudy, wait_for

OUTAGE = 60  # seconds; the plugin's default forgets jobs after five questions without an answer


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
    assert small_study.table() == "whole\n"


def test_a_job_is_followed_on_after_an_outage(small_study: SmallStudy) -> None:
    cluster = small_study.cluster
    # An outage in which the plugin begins to ask has it ask sacct, which knows nothing here.
    cluster.hide_sacct()
    head = small_study.start()
    small_study.wait_for_half()
    cluster.save_jobs(small_study.ids()[0])  # it knows on its return what it has saved
    cluster.kill("slurmctld")
    time.sleep(OUTAGE)
    small_study.go()
    cluster.start_slurmctld()
    assert small_study.end(head) == 0, small_study.log()
    assert small_study.states() == ["COMPLETED"]
    assert small_study.starts() == 1
    assert small_study.table() == "whole\n"
