"""What a study would submit with a profile: `planned_jobs.py study.yaml folder profile`, as JSON.

`submitted` has the rules of each job that a scheduler would get; `rules` what each rule asks for
before it is known what a job reads: whether it runs on the head, memory in MB, GPUs and threads,
and whether its script is given a device;
`path` the rules of the longest chain of jobs, by the seconds of docs/measured.csv, and `seconds`
how long it takes.
"""

import csv
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from snakemake.api import SnakemakeApi
from snakemake.cli import parse_args
from snakemake.settings.types import (
    ConfigSettings,
    GroupSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

ROOT = Path(__file__).parents[1]


def planned(study: Path, folder: Path, profile: Path) -> dict[str, Any]:
    """Plan the default targets of a study in `folder`, without running anything."""
    options = parse_args(["--snakefile", str(ROOT / "Snakefile"), "--profile", str(profile)])[1]
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        resources = ResourceSettings(
            cores=1,
            nodes=options.jobs,
            resources=options.resources,
            default_resources=options.default_resources,
        )
        plan = api.workflow(
            resource_settings=resources,
            config_settings=ConfigSettings(config=yaml.safe_load(study.read_text("utf-8"))),
            snakefile=ROOT / "Snakefile",
            workdir=folder,
        )
        plan.dag().execute_workflow(
            executor=options.executor,
            pseudo_executor="dryrun",
            group_settings=GroupSettings(group_components=options.group_components),
        )
        workflow = plan._workflow
        dag = workflow.dag
        jobs = {dag.get_job_group(j) or j for j in dag.needrun_jobs(exclude_finished=False)}
        rules = [sorted(job.rules) for job in jobs]
        asked = {rule.name: asked_by(rule, workflow) for rule in workflow.rules}
        submitted = [names for names in rules if not all(asked[name]["local"] for name in names)]
        seconds, path = longest_chain(dag)
        return {"submitted": submitted, "rules": asked, "path": path, "seconds": seconds}


def longest_chain(dag: Any) -> tuple[float, list[str]]:
    """The seconds of the longest chain of jobs, and its rules; those not measured take none."""
    with (ROOT / "docs/measured.csv").open(encoding="utf-8", newline="") as file:
        measured = {row["rule"]: float(row["seconds"]) for row in csv.DictReader(file)}

    @cache
    def until(job: Any) -> tuple[float, tuple[str, ...]]:
        before, rules = max(map(until, dag.dependencies[job]), default=(0.0, ()))
        return before + measured.get(job.rule.name, 0.0), (*rules, job.rule.name)

    seconds, rules = max(map(until, dag.needrun_jobs(exclude_finished=False)))
    return round(seconds, 1), list(rules)


def asked_by(rule: Any, workflow: Any) -> dict[str, Any]:
    """What a rule asks for at its first attempt, had it nothing to read."""
    given = {"input": [], "attempt": 1, "threads": 1, "rulename": rule.name, "async_run": None}

    def value(name: str) -> int:
        resource = rule.resources.get(name)
        return (resource.evaluate({}, **given).value if resource else None) or 0

    # Not workflow.is_local, for which every job of a dry run is local.
    local = rule.group is None and (rule.name in workflow._localrules or rule.norun)
    asked = {name: value(name) for name in ("mem_mb", "runtime", "gpu", "_cores")}
    return asked | {"local": local, "device": "device" in dict(rule.params.items())}


if __name__ == "__main__":
    print(json.dumps(planned(*(Path(path).absolute() for path in sys.argv[1:]))))
