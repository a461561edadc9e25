"""What will run: the jobs of a dry run, with times that were measured before."""

import csv
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError

OWN, DEFAULT = "this study", "default study, 2 cores"


@dataclass(frozen=True)
class Job:
    """A planned job; memory, disk, GPUs and `runtime`, in minutes, are asked of a scheduler."""

    rule: str
    input: tuple[str, ...]
    output: tuple[str, ...]
    benchmark: str
    threads: int = 1
    mem_mb: int = 0
    disk_mb: int = 0
    gpu: int = 0
    runtime: int = 0
    group: str = ""


def dry_run(call: Mapping[str, Any]) -> list[Job]:
    """The jobs of the same call, in an order that respects inputs, planned by Snakemake itself.

    `call` has the arguments after `snakemake`, the absolute paths `snakefile`, `configfiles` and
    `directory`, and `without`, the target that is left out. Raises InputError with
    Snakemake's error.
    """
    given = list(call["arguments"])
    moved = any(re.match(r"(--directory|-d)\b", argument) for argument in given)
    if "--" not in given:
        given += ["--snakefile", call["snakefile"]]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "jobs.jsonl")
        module = "workflow_scripts.preflight.dry_run"
        done = subprocess.run(  # noqa: S603 - no shell, and the arguments are this call's own
            [sys.executable, "-m", module, str(out), json.dumps({**call, "arguments": given})],
            # Where relative profiles are looked for.
            cwd=Path(call["snakefile"]).parent if moved else call["directory"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode or not out.is_file():
            # In a dry run Snakemake prints its errors to stdout.
            raise InputError(f"no plan: {last_error(done.stderr + done.stdout)}")
        return read_jobs(out)


def last_error(text: str) -> str:
    """The error among what Snakemake prints, in one line; the last words where there is none."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    lines = [line for line in lines if not line.startswith('File "')]  # of a traceback
    starts = [k for k, line in enumerate(lines) if re.search(r"(Error|Exception)\b", line)]
    return " ".join(lines[starts[0] :] if starts else lines[-3:])[:600]


def read_jobs(path: Path) -> list[Job]:
    """The jobs in a file that `dry_run.py` wrote; targets without a product are left out."""
    jobs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        about = json.loads(line)
        if about["output"]:
            jobs.append(Job(**about | {key: tuple(about[key]) for key in ("input", "output")}))
    return jobs


@dataclass(frozen=True)
class Times:
    """Measured seconds: by benchmark file and by rule of this study, by rule of the default one."""

    files: Mapping[str, float]
    rules: Mapping[str, float]
    default: Mapping[str, float]

    def of(self, job: Job) -> tuple[float | None, str]:
        """Seconds of a job and where they were measured; None where they never were."""
        if job.benchmark in self.files:
            return self.files[job.benchmark], OWN
        for table, where in ((self.rules, OWN), (self.default, DEFAULT)):
            if job.rule in table:
                return table[job.rule], where
        return None, ""


def read_times(benchmarks: Path, measured: Path) -> Times:
    """Times in a study's benchmark files, and in a table with the columns rule and seconds."""
    files: dict[str, float] = {}
    rules: dict[str, list[float]] = defaultdict(list)
    for path in sorted(benchmarks.rglob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row.get("s")]
        if rows:
            files[str(path)] = float(rows[-1]["s"])
            rules[path.stem.rpartition(".")[2]].append(files[str(path)])
    default = {}
    if measured.is_file():
        with measured.open(encoding="utf-8", newline="") as file:
            default = {row["rule"]: float(row["seconds"]) for row in csv.DictReader(file)}
    medians = {rule: statistics.median(seconds) for rule, seconds in rules.items()}
    return Times(files, medians, default)


@dataclass(frozen=True)
class RuleTotals:
    """The jobs of one rule: seconds and disk of all, and how many have no measured time."""

    rule: str
    n: int
    where: str
    seconds: float
    unknown: int
    measured: str
    disk_mb: int = 0


def by_rule(
    jobs: Sequence[Job], times: Times, local: Collection[str], submits: bool, n_gpus: int
) -> list[RuleTotals]:
    """The totals of each rule, in the order in which the rules first run.

    `local` are the rules that run where Snakemake does; with `submits` all others are submitted.
    `n_gpus` are those of this machine.
    """
    grouped: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        grouped[job.rule].append(job)
    totals = []
    for rule, members in grouped.items():
        known = [times.of(job) for job in members]
        seconds = sum(s for s, _ in known if s is not None)
        unknown = sum(s is None for s, _ in known)
        measured = ", ".join(sorted({origin for _, origin in known if origin}))
        where = where_runs(members[0], rule in local, submits, n_gpus)
        disk_mb = sum(job.disk_mb for job in members)
        totals.append(RuleTotals(rule, len(members), where, seconds, unknown, measured, disk_mb))
    return totals


def where_runs(job: Job, local: bool, submits: bool, n_gpus: int) -> str:
    """Where a job runs, in words."""
    if not submits or local:
        return "here, GPU" if job.gpu and n_gpus else "here"
    return "submitted, GPU" if job.gpu else "submitted"


def n_submitted(jobs: Sequence[Job], local: Collection[str]) -> int:
    """How many jobs a scheduler gets; those of a group are one."""
    own = [job for job in jobs if job.group or job.rule not in local]
    return sum(not job.group for job in own) + len({job.group for job in own if job.group})


def gpu_time(jobs: Sequence[Job], times: Times) -> tuple[int, float, int, float]:
    """Of the jobs that ask for a GPU: how many; seconds measured in this study; how many have none
    of these; and the seconds after which a scheduler would have ended all of them.
    """
    asking = [job for job in jobs if job.gpu]
    measured = [times.of(job) for job in asking]
    own = [seconds for seconds, where in measured if seconds is not None and where == OWN]
    limit = 60.0 * sum(job.runtime for job in asking)
    return len(asking), sum(own), len(asking) - len(own), limit


def critical_path(jobs: Sequence[Job], times: Times) -> tuple[float, list[str]]:
    """Seconds of the longest chain of jobs, and its rules; a job without a time counts none."""
    made: dict[str, int] = {path: k for k, job in enumerate(jobs) for path in job.output}
    ends: list[float] = [0.0] * len(jobs)
    before: list[int | None] = [None] * len(jobs)
    for k, job in enumerate(jobs):
        needed = {made[path] for path in job.input if path in made and made[path] < k}
        before[k] = max(needed, key=lambda other: ends[other], default=None)
        start = 0.0 if before[k] is None else ends[before[k]]
        ends[k] = start + (times.of(job)[0] or 0.0)
    last: int | None = max(range(len(jobs)), key=lambda k: ends[k], default=None)
    seconds, chain = (ends[last] if last is not None else 0.0), []
    while last is not None:
        chain.append(jobs[last].rule)
        last = before[last]
    return seconds, chain[::-1]
