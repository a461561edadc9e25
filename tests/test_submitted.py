"""What a scheduler is asked for: how many jobs, and for each enough memory, threads and a GPU."""

import csv
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TASKS = ("mrpc", "stsb", "sst2", "qqp", "rte", "qnli", "mnli")
# What Snakemake itself takes in a job's memory, where two processes of it run: measured 328 MB.
SNAKEMAKE_MB = 400
FEWEST_MB = 1000


def planned(study: Path, folder: Path) -> dict[str, Any]:
    """What would be submitted of a study with profiles/slurm."""
    script, profile = ROOT / "tests/planned_jobs.py", ROOT / "profiles/slurm"
    command = [sys.executable, script, study, folder, profile]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The default study on four threads."""
    folder = tmp_path_factory.mktemp("default")
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    (folder / "study.yaml").write_text(yaml.safe_dump(study | {"threads": 4}), encoding="utf-8")
    return planned(folder / "study.yaml", folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """BERT-base on seven tasks with three seeds, its caches extracted by eight jobs each."""
    folder = tmp_path_factory.mktemp("large")
    study = yaml.safe_load((ROOT / "studies/bert-base.yaml").read_text(encoding="utf-8"))
    study["models"] = {"uncased": study["models"]["uncased"]}
    study["tasks"] = {task: study["tasks"][task] for task in TASKS}
    study["attention"] = {"shards": 8}
    study["checkpoints"] = {"finetune": {"seeds": [1, 2, 3]}}
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    return planned(folder / "study.yaml", folder)


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, float]]:
    """The jobs of a run of the default study, by rule: seconds and peak_mb."""
    with (ROOT / "docs/measured.csv").open(encoding="utf-8", newline="") as file:
        rows = {row.pop("rule"): row for row in csv.DictReader(file)}
    return {rule: {key: float(value) for key, value in row.items()} for rule, row in rows.items()}


def test_a_large_study_submits_at_most_150_jobs(large: dict[str, Any]) -> None:
    assert 100 < len(large["submitted"]) <= 150


def test_a_failing_follower_costs_no_long_job(large: dict[str, Any]) -> None:
    """Snakemake removes the products of all jobs of a group of which one failed."""
    together = {tuple(sorted(set(rules))) for rules in large["submitted"] if len(rules) > 1}
    assert together == {("extract_checkpoint", "finetuning_tables")}
    alone = {rules[0] for rules in large["submitted"] if len(rules) == 1}
    assert {"finetune", "finetune_random", "ablation_sweep", "pruning_curves"} <= alone


def test_every_rule_has_more_memory_than_it_took(
    default: dict[str, Any], large: dict[str, Any], measured: dict[str, dict[str, float]]
) -> None:
    asked = {name: rule["mem_mb"] for name, rule in (large["rules"] | default["rules"]).items()}
    assert set(measured) <= set(asked), "run docs/measured.py on a new run of the default study"
    few = {
        name: asked[name]
        for name in measured
        if asked[name] < max(FEWEST_MB, measured[name]["peak_mb"] + SNAKEMAKE_MB)
    }
    assert not few


def test_only_light_jobs_run_on_the_head(
    default: dict[str, Any], measured: dict[str, dict[str, float]]
) -> None:
    rules = default["rules"]
    local = {name for name in measured if name in rules and rules[name]["local"]}
    assert len(local) > 60
    heavy = {
        name: measured[name]
        for name in local
        if measured[name]["seconds"] > 12 or measured[name]["peak_mb"] > 1100
    }  # model_card loads a whole model, for seconds
    assert not heavy
    assert not local & {name for name, rule in rules.items() if rule["gpu"]}


def test_what_is_given_a_device_asks_for_a_gpu_and_threads(default: dict[str, Any]) -> None:
    expected = {name for name, rule in default["rules"].items() if rule["device"]}
    assert {"extract", "finetune_random", "random_body", "train_probes"} <= expected
    asked = {name for name, rule in default["rules"].items() if rule["gpu"]}
    assert asked - {"model_step", "training_step"} == expected  # others begin from these two
    assert {default["rules"][name]["_cores"] for name in expected} == {4}


def test_measured_seconds_are_the_mean_of_a_rules_jobs(tmp_path: Path) -> None:
    for job, (seconds, peak) in enumerate([(1, 20), (1, 50), (7, 40)]):
        file = tmp_path / f"benchmarks/chapter/{job}.some_rule.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"s\tmax_rss\n{seconds}\t{peak}\n", encoding="utf-8")
    table = runpy.run_path(str(ROOT / "docs/measured.py"))["measured"](tmp_path)
    assert table.to_dict("records") == [
        {"rule": "some_rule", "jobs": 3, "seconds": 3, "peak_mb": 50}
    ]
