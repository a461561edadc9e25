"""What will run, from the events of a dry run and measured times."""

import json
from pathlib import Path

import pytest

from workflow_scripts.preflight import plan
from workflow_scripts.preflight.plan import Job, Times


def job(rule: str, *inputs: str, **other: object) -> Job:
    return Job(rule, inputs, (f"{rule}.out",), f"bench/{rule}.tsv", **other)


JOBS = (
    job("a"),
    job("b", "a.out", gpu=1),
    job("c", "a.out"),
    job("d", "b.out", "c.out", group="g"),
    job("e", "d.out", group="g"),
)
TIMES = Times(files={"bench/b.tsv": 5.0}, rules={"c": 9.0}, default={"a": 1.0, "c": 99.0})


def test_jobs_are_read_in_order(tmp_path: Path) -> None:
    target = Job("all", (), (), "")  # nothing that runs
    path = tmp_path / "jobs.jsonl"
    path.write_text("".join(json.dumps(vars(job)) + "\n" for job in (JOBS[0], target, JOBS[1])))
    assert plan.read_jobs(path) == list(JOBS[:2])


def test_times_are_of_the_job_then_of_its_rule_then_of_the_default_study(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for name, seconds in (("m.1.extract", 2), ("m.2.extract", 4), ("join", 8)):
        (tmp_path / f"x/{name}.tsv").write_text(f"s\tmax_rss\n{seconds}\t1\n")
    measured = tmp_path / "measured.csv"
    measured.write_text("rule,jobs,seconds,peak_mb\nextract,4,77,1\nsegments,1,7.5,1\n")
    times = plan.read_times(tmp_path / "x", measured)
    first = Job("extract", (), (), str(tmp_path / "x/m.1.extract.tsv"))
    assert times.of(first) == (2, plan.OWN)
    assert times.of(Job("extract", (), (), "other.tsv")) == (3, plan.OWN)
    assert times.of(Job("segments", (), (), "")) == (7.5, plan.DEFAULT)
    assert times.of(Job("entropy", (), (), "")) == (None, "")
    nothing = plan.read_times(tmp_path / "none", tmp_path / "none.csv")
    assert nothing.of(first) == (None, "")


def test_the_longest_chain_by_hand() -> None:
    assert plan.critical_path(JOBS, TIMES) == (10.0, ["a", "c"])
    assert plan.critical_path(JOBS[:2], TIMES) == (6.0, ["a", "b"])
    assert plan.critical_path((), TIMES) == (0.0, [])


def test_the_totals_of_each_rule() -> None:
    jobs = (*JOBS, job("b", gpu=1, disk_mb=7))
    totals = {total.rule: total for total in plan.by_rule(jobs, TIMES, {"c"}, True, 0)}
    assert totals["b"] == plan.RuleTotals("b", 2, "submitted, GPU", 10.0, 0, plan.OWN, 7)
    assert totals["d"] == plan.RuleTotals("d", 1, "submitted", 0.0, 1, "")
    assert totals["c"].where == "here"
    here = plan.by_rule(jobs, TIMES, set(), False, n_gpus=1)
    assert [total.where for total in here] == ["here", "here, GPU", "here", "here", "here"]


def test_gpu_time_counts_no_time_of_another_study() -> None:
    own, foreign = job("b", gpu=1, runtime=240), job("a", gpu=1, runtime=60)
    jobs = (own, own, foreign, job("c"))
    assert plan.gpu_time(jobs, TIMES) == (3, 10.0, 1, 540 * 60)


def test_a_group_is_submitted_once() -> None:
    assert plan.n_submitted(JOBS, local={"c"}) == 3  # a, b, and d with e


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Building DAG\nWorkflowError in file x:\nconfig: models: missing\n", "WorkflowError in"),
        ("one\ntwo\n", "one two"),
    ],
)
def test_the_error_of_a_plan_that_fails(text: str, message: str) -> None:
    assert plan.last_error(text).startswith(message)
