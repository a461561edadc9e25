"""SLURM's controller dies while a job runs, and comes back."""

import time

from tests.slurm.small_study import SmallStudy

OUTAGE = 60  # seconds; the plugin's default forgets jobs after five questions without an answer


def test_jobs_are_followed_on_after_an_outage(small_study: SmallStudy) -> None:
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
    assert small_study.starts(2) == 1
    assert small_study.table() == small_study.expected
