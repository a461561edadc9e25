"""What would be run of a study: `planned_jobs.py study.yaml folder [profile]`, as JSON.

`jobs` has each job's rule and files; `submitted` the rules of each job that a scheduler would get
with the profile; `rules` what each rule asks for before it is known what a job reads: whether it
runs on the head, memory in MB, minutes, GPUs and threads, and whether its script is given a device.
"""

import json
import subprocess
import sys
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


def plan(study: Path, folder: Path, *profile: Path) -> dict[str, Any]:
    """What this script prints, in a process of its own."""
    command = [sys.executable, "-m", "tests.planned_jobs", study, folder, *profile]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def planned(study: Path, folder: Path, *profile: Path) -> dict[str, Any]:
    """Plan the default targets of a study in `folder`, without running anything."""
    chosen = ["--profile", str(*profile)] if profile else ["--cores", "1"]
    options = parse_args(["--snakefile", str(ROOT / "Snakefile"), *chosen])[1]
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        resources = ResourceSettings(
            cores=1,
            nodes=options.jobs,
            resources=options.resources,
            default_resources=options.default_resources,
        )
        run = api.workflow(
            resource_settings=resources,
            config_settings=ConfigSettings(config=yaml.safe_load(study.read_text("utf-8"))),
            snakefile=ROOT / "Snakefile",
            workdir=folder,
        )
        run.dag().execute_workflow(
            executor=options.executor if profile else "dryrun",
            pseudo_executor="dryrun" if profile else None,
            group_settings=GroupSettings(group_components=options.group_components or {}),
        )
        workflow = run._workflow
        dag = workflow.dag
        jobs = list(dag.needrun_jobs(exclude_finished=False))
        asked = {rule.name: asked_by(rule, workflow) for rule in workflow.rules}
        rules = [sorted(job.rules) for job in {dag.get_job_group(job) or job for job in jobs}]
        return {
            "jobs": [
                {"rule": job.rule.name, "input": list(job.input), "output": list(job.output)}
                for job in jobs
            ],
            "submitted": [
                names for names in rules if not all(asked[name]["local"] for name in names)
            ],
            "rules": asked,
        }


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
