"""What a study needs, looked at before it runs: one report of all problems, and what will run.

Ends with an error where a source or model cannot be read, the disk is too small, or no plan can
be made, after all has been looked at.
"""

import logging
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.preflight import machine, plan
from workflow_scripts.preflight.estimates import NOTHING, Amount, Corpus, Sizes, peak
from workflow_scripts.preflight.findings import ERROR, Finding, attempt, duration, size, table
from workflow_scripts.preflight.hub import Network

log = logging.getLogger(__name__)


def corpus_sizes(config: dict[str, Any], opened: dict[str, Any], models: dict[str, Any]) -> dict:
    """The examples of every corpus and task, and the tokens of the first by each tokenizer."""
    limits = {
        "text": "n_segments",
        "treebanks": "n_sentences",
        "coreference": "generate",
        "frames": "generate",
    }
    entries = [
        (name, entry, entry.get(key) or None)
        for kind, key in limits.items()
        for name, entry in config["corpora"][kind].items()
    ]
    most = config["attention"]["task_examples"]
    entries += [
        (name, entry, min(most, entry["n_dev"] or most))
        for name, entry in config["tasks"].items()
        if name != "arct"
    ]
    sizes = {}
    for name, entry, n in entries:
        source = opened.get(name)
        lengths = {
            model: [
                len(tokens)
                for tokens in tokenize(
                    source.examples,
                    found.tokenizer,
                    min(entry["max_tokens"], found.shape.max_positions),
                    found.shape.max_positions,
                )
            ]
            for model, found in models.items()
            if source is not None and found.tokenizer is not None and source.examples
        }
        sizes[name] = Corpus(source.n if source else n, entry["max_tokens"], lengths)
    return sizes


def look_at_models(config: dict, needed: dict, network: Network) -> tuple[dict, list[Finding]]:
    """Every model that can be read, by name, and the findings."""
    from workflow_scripts.preflight import models

    found, findings = {}, []
    for name, entry in config["models"].items():
        check = partial(models.check, name, entry, needed, network)
        model, finding = attempt(f"models.{name}", check)
        findings.append(finding)
        found[name] = model or models.Model()
    return found, findings


def disk_rows(sizes: Sizes, planned: plan.Plan) -> tuple[list[tuple], Amount, dict[str, Amount]]:
    """Rows of the disk's table, what is needed at the peak, and the amount of each rule."""
    temporary = {path for _, path in planned.removed}
    amounts = [sum((sizes.amount(path) for path in job.output), NOTHING) for job in planned.jobs]
    kinds: dict[str, Amount] = {}
    rules: dict[str, Amount] = {}
    for job_, amount in zip(planned.jobs, amounts, strict=True):
        rules[job_.rule] = rules.get(job_.rule, NOTHING) + amount
        for path in job_.output:
            kind = kind_of(path) + ", later removed" * (path in temporary)
            kinds[kind] = kinds.get(kind, NOTHING) + sizes.amount(path)
    events = []
    removed = list(planned.removed)
    for number, amount in enumerate(amounts):
        while removed and removed[0][0] <= number:
            events.append(("remove", sizes.amount(removed.pop(0)[1])))
        events.append(("add", amount))
    events += [("remove", sizes.amount(path)) for _, path in removed]
    left, highest = peak(events)
    scratch = sizes.scratch(rules.keys())
    needed = highest + Amount(scratch, scratch)
    rows = [(kind, *_amounts(amount)) for kind, amount in sorted(kinds.items())]
    rows += [("left at the end", *_amounts(left))]
    rows += [("at any time, with a training job's state", *_amounts(needed))]
    return rows, needed, rules


def kind_of(path: str) -> str:
    """The kind of a product, for the disk's table."""
    if path.endswith(".h5"):
        return "attention caches"
    if path.endswith((".checkpoint", ".epochs")) and "/translation/" in path:
        return "weights of translators"
    is_file = "." in Path(path).suffix and not Path(path).suffix[1:].isdigit()
    if "/checkpoints/" in path and (not is_file or path.endswith(".epochs")):
        return "weights of classifiers"
    if "/arguments/" in path and not is_file:
        return "weights of ARCT's models"
    return "tables, figures and the rest"


def _amounts(amount: Amount) -> tuple[str, str]:
    return tuple("unknown" if n is None else size(n) for n in (amount.expected, amount.most))


def plan_rows(rows: Sequence[plan.Row], rules: dict[str, Amount]) -> list[tuple]:
    """Rows of the table of what will run."""
    printed = []
    for row in rows:
        known = row.n > row.unknown
        seconds = duration(row.seconds) if known else "unknown"
        if known and row.unknown:
            seconds += f" + {row.unknown} unknown"
        disk = rules.get(row.rule, NOTHING).expected
        disk = "unknown" if disk is None else size(disk)
        printed.append((row.rule, str(row.n), row.place, seconds, row.measured, disk))
    return printed


def findings_table(findings: Iterable[Finding]) -> str:
    """Findings, a line each."""
    return table(("", "what", "found"), [(f.state, f.what, f.why) for f in findings])


def main(
    study: dict[str, Any],
    results: str,
    needed: dict[str, list[str]],
    call: dict[str, Any],
    local: list[str],
    submits: bool,
    cores: int | None,
    measured: str,
) -> None:
    """Print the report, and write it to `results`/preflight.txt.

    `study` is the checked config, `needed` the abilities that its chapters need of models, `call`
    how Snakemake was called, `local` the rules that never leave this machine, where the others are
    submitted (`submits`); `cores` those given to Snakemake, `measured` a table of times.
    """
    # Readers of datasets then look at the local cache alone; the network is asked for metadata.
    os.environ["HF_DATASETS_OFFLINE"] = "1"
    from workflow_scripts.preflight import sources

    network = Network()
    found = sources.look(study, network)
    models, of_models = look_at_models(study, needed, network)
    planned, of_plan = attempt("plan", partial(_planned, call))
    planned = planned or plan.Plan(())
    shapes = {name: model.shape for name, model in models.items()}
    corpora = corpus_sizes(study, found.opened, models)
    sizes = Sizes(results, corpora, shapes, study, found.n_vectors)
    disk, needed_disk, of_rules = disk_rows(sizes, planned)
    products = [path for job_ in planned.jobs for path in job_.output]
    unknown = sum(sizes.amount(path).expected is None for path in products)
    free = machine.free_disk(Path(results))
    times = plan.read_times(Path(results, "benchmarks"), Path(measured))
    seen = machine.gpus()
    n_gpu = sum(bool(job_.gpu) for job_ in planned.jobs)
    of_machine = [
        machine.disk_finding(Path(results), free, needed_disk, unknown),
        machine.memory_finding(planned.jobs, machine.free_memory(), submits),
        machine.cores_finding(planned.jobs, machine.cores(), cores, submits),
        machine.gpu_finding(study["device"], seen, n_gpu, submits),
    ]
    rows = plan.by_rule(planned.jobs, times, local, submits, len(seen[0]))
    parts = [
        f"# Preflight of the study {study['study']}",
        "## Sources\n" + findings_table(found.findings),
        "## Models\n" + findings_table(of_models),
        "## Machine\n" + findings_table(of_machine),
        "## Disk: expected from the first examples, and at most\n"
        + table(("", "expected", "at most"), disk, right=(1, 2)),
        "## What will run\n" + _what_runs(rows, of_rules, planned, times, local, submits, cores),
    ]
    problems = [
        finding
        for finding in (*found.findings, *of_models, *of_machine, of_plan)
        if finding.state == ERROR
    ]
    lines = [f"{number}. {f.what}: {f.why}" for number, f in enumerate(problems, start=1)]
    parts.append(f"## Problems: {len(problems)}\n" + ("\n".join(lines) or "none found"))
    report = "\n\n".join(parts) + "\n"
    print(report, flush=True)
    path = Path(results, "preflight.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report, encoding="utf-8")
    if problems:
        first = f"{problems[0].what}: {problems[0].why}"
        more = f"; {len(problems) - 1} more are in {path}" if len(problems) > 1 else ""
        raise InputError(f"preflight: {len(problems)} problems: {first}{more}")


def _planned(call: dict[str, Any]) -> tuple[plan.Plan, str]:
    planned = plan.dry_run(call)
    return planned, f"{len(planned.jobs)} jobs"


def _what_runs(
    rows: Sequence[plan.Row],
    of_rules: dict[str, Amount],
    planned: plan.Plan,
    times: plan.Times,
    local: Sequence[str],
    submits: bool,
    cores: int | None,
) -> str:
    """The table of rules, and what all take together."""
    head = ("rule", "jobs", "where", "time of all", "measured in", "disk")
    seconds, unknown = sum(row.seconds for row in rows), sum(row.unknown for row in rows)
    longest, chain = plan.critical_path(planned.jobs, times)
    lines = [
        table(head, plan_rows(rows, of_rules), right=(1, 3, 5)),
        "",
        f"{len(planned.jobs)} jobs"
        + (f", {plan.n_submitted(planned.jobs, local)} submitted" if submits else ""),
        f"{duration(seconds)} in all, one after the other; {unknown} jobs have no measured time",
        f"{duration(longest)} along the longest chain: {' > '.join(chain)}",
    ]
    if cores and not submits:
        least = max(longest, seconds / cores)
        lines.append(f"at least {duration(least)} on {cores} cores of the speed measured")
    return "\n".join(lines)


if __name__ == "__main__":
    job.run(main, globals())
