"""A node goes down, or a daemon dies, while a job runs; and comes back."""

import time
from collections.abc import Callable

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.small_study import SmallStudy, wait_for

OUTAGE = 60  # seconds; the plugin's default forgets jobs after five questions without an answer


def test_a_job_of_a_node_that_lost_power_runs_again(small_study: SmallStudy) -> None:
    cluster = small_study.cluster
    head = small_study.start()
    small_study.wait_for_half()
    cluster.cut_power()
    assert small_study.half_written()
    wait_for(lambda: cluster.node_state() == "down", small_study.log)
    cluster.start_slurmd()
    small_study.go()
    assert small_study.end(head) == 0, small_study.log()
    assert [job["Restarts"] for job in small_study.jobs()] == ["1"]
    assert small_study.starts(2) == 2
    assert small_study.table() == small_study.expected


@pytest.mark.parametrize(
    ("daemon", "start"),
    [("munged", Cluster.start_munged), ("slurmctld", Cluster.start_slurmctld)],
    ids=["munged", "slurmctld"],
)
def test_jobs_are_followed_on_after_an_outage(
    daemon: str, start: Callable[[Cluster], None], small_study: SmallStudy
) -> None:
    # An outage in which the plugin begins to ask has it ask sacct, which knows nothing here.
    small_study.cluster.hide_sacct()
    head = small_study.start()
    small_study.wait_for_half()
    if daemon == "slurmctld":  # it knows on its return what it has saved
        small_study.cluster.save_jobs(small_study.ids()[0])
    small_study.cluster.kill(daemon)
    time.sleep(OUTAGE)
    small_study.go()
    start(small_study.cluster)
    assert small_study.end(head) == 0, small_study.log()
    assert small_study.states() == ["COMPLETED"]
    # Without munge the node is not heard of: after SlurmdTimeout its job is run again.
    assert small_study.starts(2) == 1 or daemon == "munged"
    assert small_study.table() == small_study.expected
