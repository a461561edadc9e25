"""A study to its end through profiles/slurm: it ran there, and equals a run on this machine."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tests.planned_jobs import plan
from tests.slurm.cluster import Cluster
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.chapters import CHAPTERS

# Two chapters and one task of the tiny study, so that a dozen jobs are submitted, with what they
# are made from, and the report.
KEPT = {"surface", "finetuning"} | {"corpora", "tasks", "attention", "checkpoints", "report"}
TASK = "mrpc"
COMMAND = [sys.executable, "-m", "snakemake", "--profile", "profiles/slurm"]
COMMAND += ["--slurm-init-seconds-before-status-checks", "1", "--configfile", "tiny.yaml"]
# Seconds and memory that were measured, and records with the digests of caches, whose values are
# equal and whose bytes are not.
MEASURED = ("logs", "benchmarks", ".provenance")


@dataclass(frozen=True)
class Runs:
    """The same study run on this machine and on the cluster, and SLURM's report on its jobs."""

    local: Path
    submitted: Path
    log: str
    jobs: list[dict[str, str]]
    with_gpu: set[str]


def two_chapters(folder: Path, model: Path) -> TinyStudy:
    """Two chapters of the tiny study, on a GPU where there is one."""
    folder.mkdir()
    study = TinyStudy(folder, model)
    for chapter in set(CHAPTERS) - KEPT:
        del study.config[chapter]
    del study.config["models"]["decoder"]  # whose only chapter is the battery
    del study.config["models"]["twin"]  # and the comparison
    study.config["tasks"] = {TASK: study.config["tasks"][TASK]}
    study.config["attention"]["shards"] = 2
    study.config["device"] = "auto"
    study.write_config()
    return study


@pytest.fixture(scope="module")
def runs(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path
) -> Iterator[Runs]:
    """Both runs, side by side."""
    folder = tmp_path_factory.mktemp("studies")
    local = two_chapters(folder / "local", tiny_model_dir)
    submitted = two_chapters(folder / "submitted", tiny_model_dir)
    cluster.write_partitions(submitted.folder)
    rules = plan(local.folder / "tiny.yaml", local.folder)["rules"]
    printed = folder / "slurm.txt"
    with printed.open("w") as file:
        head = subprocess.Popen(
            COMMAND,
            cwd=submitted.folder,
            env=cluster.environment | {"OMP_NUM_THREADS": os.environ["OMP_NUM_THREADS"]},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        local.run()
        assert head.wait(1800) == 0, printed.read_text()
    finally:
        head.kill()
    jobs = [job for job in cluster.jobs() if job["WorkDir"] == str(submitted.folder)]
    yield Runs(
        local.folder / "results/tiny",
        submitted.folder / "results/tiny",
        printed.read_text(),
        jobs,
        {name for name, rule in rules.items() if rule["gpu"]},
    )


def products(results: Path) -> set[str]:
    """The files of a run that must not depend on where it ran."""
    files = (path.relative_to(results) for path in results.rglob("*") if path.is_file())
    return {str(file) for file in files if not {*MEASURED} & {*file.parts}}


def test_all_jobs_that_were_submitted_ended_well_in_slurm(runs: Runs) -> None:
    submitted = re.findall(r"has been submitted with SLURM jobid (\d+)", runs.log)
    assert len(submitted) >= 10
    assert sorted(job["JobId"] for job in runs.jobs) == sorted(submitted)
    assert {job["JobState"] for job in runs.jobs} == {"COMPLETED"}


def test_rules_that_run_a_model_asked_for_a_gpu_and_got_its_partition(runs: Runs) -> None:
    assert not torch.cuda.is_available()  # no matter: the rule and the study decide
    assert {"extract_task", "finetune", "mlm_head"} <= runs.with_gpu
    wanted, others = [], []
    for job in runs.jobs:
        names = f"{job['Comment']}_"  # rule_<rule>_wildcards_..., or the rules of a group
        (wanted if any(f"_{rule}_" in names for rule in runs.with_gpu) else others).append(job)
    assert len(wanted) >= 5
    assert {(job["TresPerJob"], job["Partition"]) for job in wanted} == {("gres:gpu:1", "gpu")}
    assert {job["JOB_GRES"] for job in wanted} == {"gpu:1"}
    assert len(others) >= 3
    assert {(job.get("TresPerJob"), job["Partition"]) for job in others} == {(None, "cpu")}


def test_tables_figures_and_weights_are_equal_byte_for_byte(runs: Runs) -> None:
    names = products(runs.local)
    assert names == products(runs.submitted)
    compared = {name for name in names if not name.endswith(".h5")}
    assert len({name for name in compared if name.endswith((".csv", ".parquet"))}) > 20
    different = [
        name
        for name in sorted(compared)
        if (runs.local / name).read_bytes() != (runs.submitted / name).read_bytes()
    ]
    assert different == []
