"""What a study needs, looked at before it runs: one report of all problems, and what will run.

Ends with an error where a source or model cannot be read, the disk is too small, or no plan can
be made, after all has been looked at.
"""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.config import source_of
from workflow_scripts.core.run.findings import ERROR, NOTE, Finding, Findings
from workflow_scripts.core.run.units import duration, size
from workflow_scripts.preflight import machine, plan
from workflow_scripts.preflight.plan import Job, RuleTotals, Times


def look_at_models(config: dict, needed: dict, network: Network) -> Findings:
    """A finding for each model of the study, and its config; `needed` has each one's abilities."""
    from workflow_scripts.preflight import models

    found = Findings()
    for name, entry in config["models"].items():
        kind, source = entry["kind"], source_of(entry)
        look = partial(models.check, name, source, needed[name], network, kind)
        found.look(f"models.{name}", look)
    return found


def memory_of_encoders(study: dict, looked: Findings, submits: bool) -> list[Finding]:
    """The peak memory of each encoder whose config could be read."""
    from workflow_scripts.preflight import peaks

    has = peaks.room(study["device"], submits, machine.free_memory())
    configs = {name: looked.read.get(f"models.{name}") for name in study["models"]}
    found = [
        peaks.finding(name, study, config, has)
        for name, config in configs.items()
        if config is not None and study["models"][name]["kind"] == "encoder"
    ]
    return [finding for finding in found if finding is not None]


def row_of(rule: RuleTotals) -> tuple[str, ...]:
    """A row of the table of what will run."""
    known = rule.n > rule.unknown
    seconds = duration(rule.seconds) if known else "unknown"
    if known and rule.unknown:
        seconds += f" + {rule.unknown} unknown"
    disk = size(rule.disk_mb * 1e6) if rule.disk_mb else ""
    return rule.rule, str(rule.n), rule.where, seconds, rule.measured, disk


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows in columns that are as wide as their cells; those in `right` are flush right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = set(right)
    printed = []
    for line in lines:
        cells = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        printed.append("  ".join(cells).rstrip())
    return "\n".join(printed)


def findings_table(findings: Iterable[Finding]) -> str:
    """Findings, a line each."""
    return table(("", "what", "found"), [(f.state, f.what, f.why) for f in findings])


def main(
    study: dict[str, Any],
    results: str,
    needed: dict[str, dict[str, list[str]]],
    call: dict[str, Any],
    local: list[str],
    submits: bool,
    cores: int | None,
    measured: str,
    left_out: list[tuple[str, str, str]] = (),
) -> None:
    """Print the report, and write it to `results`/preflight.txt.

    `study` is the checked config, `needed` the abilities that its chapters need of each model,
    `call` how Snakemake was called, `local` the rules that never leave this machine, where the
    others are submitted (`submits`); `cores` those given to Snakemake, `measured` a table of times,
    `left_out` the figures that a model has not, with the reason.
    """
    # Readers of datasets then look at the local cache alone; the network is asked for metadata.
    os.environ["HF_DATASETS_OFFLINE"] = "1"
    from workflow_scripts.preflight import sources

    network = Network()
    of_sources = sources.look(study, network)
    models = look_at_models(study, needed, network)
    of_models = models.rows + [
        Finding(f"models.{model}", NOTE, f"without {figure}: {why}")
        for model, figure, why in left_out
    ]
    of_plan = Findings()
    jobs = of_plan.look("plan", partial(_planned, call))
    if jobs is None:
        looked = (f"disk of {results}", "memory", "cores", "GPU")
        of_machine = [Finding(what, NOTE, "not looked at without a plan") for what in looked]
        runs = of_plan.rows[0].why
    else:
        times = plan.read_times(Path(results, "benchmarks"), Path(measured))
        gpus = machine.gpus()
        n_gpu = sum(bool(job_.gpu) for job_ in jobs)
        of_machine = [
            machine.disk_finding(Path(results), jobs, machine.free_disk(Path(results))),
            machine.memory_finding(jobs, machine.free_memory(), submits),
            machine.cores_finding(jobs, machine.cores(), cores, submits),
            machine.gpu_finding(study["device"], gpus, n_gpu, submits),
        ]
        totals = plan.by_rule(jobs, times, local, submits, len(gpus[0]))
        runs = _what_runs(totals, jobs, times, local, submits, cores)
    of_machine += memory_of_encoders(study, models, submits)
    errors = [f for f in (*of_sources, *of_models, *of_machine) if f.state == ERROR]
    # Where sources or models have errors, a plan mostly fails for one of them.
    errors = errors or [f for f in of_plan.rows if f.state == ERROR]
    problems = problems_of(errors)
    lines = [f"{number}. {problem}" for number, problem in enumerate(problems, start=1)]
    parts = [
        f"# Preflight of the study {study['study']}",
        "## Sources\n" + findings_table(of_sources),
        "## Models\n" + findings_table(of_models),
        "## Machine\n" + findings_table(of_machine),
        "## What will run\n" + runs,
        f"## Problems: {len(problems)}\n" + ("\n".join(lines) or "none found"),
    ]
    report = "\n\n".join(parts) + "\n"
    print(report, flush=True)
    path = Path(results, "preflight.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report, encoding="utf-8")
    if problems:
        more = f"; {len(problems) - 1} more are in {path}" if len(problems) > 1 else ""
        raise InputError(f"preflight: {len(problems)} problems: {problems[0]}{more}")


def problems_of(errors: Iterable[Finding]) -> list[str]:
    """A line for each problem; one, such as a hub that cannot be reached, may be of many things."""
    alike: dict[str, list[str]] = {}
    for finding in errors:
        alike.setdefault(finding.why, []).append(finding.what)
    return [f"{', '.join(what)}: {why}" for why, what in alike.items()]


def _planned(call: dict[str, Any]) -> tuple[list[Job], str]:
    jobs = plan.dry_run(call)
    return jobs, f"{len(jobs)} jobs"


def _what_runs(
    totals: Sequence[RuleTotals],
    jobs: Sequence[Job],
    times: Times,
    local: Sequence[str],
    submits: bool,
    cores: int | None,
) -> str:
    """The table of rules, and what all take together."""
    head = ("rule", "jobs", "where", "time of all", "measured in", "disk declared")
    if not jobs:
        return "nothing: all is there"
    seconds, unknown = sum(rule.seconds for rule in totals), sum(rule.unknown for rule in totals)
    longest, chain = plan.critical_path(jobs, times)
    submitted = f", {plan.n_submitted(jobs, local)} submitted" if submits else ""
    lines = [
        table(head, map(row_of, totals), right=(1, 3, 5)),
        "",
        f"{len(jobs)} jobs{submitted}",
        f"{duration(seconds)} in all, one after the other; {unknown} jobs have no measured time",
        f"{duration(longest)} along the longest chain: {' > '.join(chain)}",
    ]
    n_gpu, own, untimed, limit = plan.gpu_time(jobs, times)
    if n_gpu:
        timed = f"{duration(own)} by this study's own times, " if own else ""
        lines.append(
            f"{n_gpu} jobs ask for a GPU where there is one: {timed}{untimed} not timed in this "
            f"study; at most {duration(limit)} by their rules' time limits"
        )
    if cores and not submits:
        least = max(longest, seconds / cores)
        lines.append(f"at least {duration(least)} on {cores} cores of the speed measured")
    return "\n".join(lines)


if __name__ == "__main__":
    job.run(main, globals())
