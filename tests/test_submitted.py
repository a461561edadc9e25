"""What a scheduler is asked for: how many jobs, and for each enough memory, threads and a GPU."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from tests.planned_jobs import ROOT, plan

TASKS = ("mrpc", "stsb", "sst2", "qqp", "rte", "qnli", "mnli")
# What Snakemake itself takes in a job's memory, where two processes of it run: measured 328 MB.
SNAKEMAKE_MB = 400
FEWEST_MB = 1000


def planned(study: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What would be submitted of a study with profiles/slurm."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    return plan(path, folder, ROOT / "profiles/slurm")


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The rules of the default study on four threads, with what they took in a run of it."""
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    rules = planned(study | {"threads": 4}, tmp_path_factory.mktemp("default"))["rules"]
    measured = pd.read_csv(ROOT / "docs/measured.csv", index_col="rule")
    return pd.DataFrame.from_dict(rules, orient="index").join(measured)


def test_a_large_study_submits_fewer_jobs_than_it_has(tmp_path: Path) -> None:
    """BERT-base on seven tasks with three seeds, its caches extracted by eight jobs each."""
    study = yaml.safe_load((ROOT / "studies/bert-base.yaml").read_text(encoding="utf-8"))
    study["models"] = {"uncased": study["models"]["uncased"]}
    study["tasks"] = {task: study["tasks"][task] for task in TASKS}
    study["attention"] = {"shards": 8}
    study["checkpoints"] = {"finetune": {"seeds": [1, 2, 3]}}
    found = planned(study, tmp_path)
    assert 100 < len(found["submitted"]) < 0.6 * len(found["jobs"])
    # Snakemake removes the products of all jobs of a group of which one failed.
    together = {tuple(sorted(set(rules))) for rules in found["submitted"] if len(rules) > 1}
    assert together == {("extract_checkpoint", "finetuning_tables")}


def test_every_rule_has_more_memory_than_it_took(default: pd.DataFrame) -> None:
    measured = default.dropna(subset="peak_mb")
    assert len(measured) > 60
    few = measured["mem_mb"] < (measured["peak_mb"] + SNAKEMAKE_MB).clip(lower=FEWEST_MB)
    assert not list(measured.index[few])


def test_only_light_jobs_run_on_the_head(default: pd.DataFrame) -> None:
    local = default[default["local"]].dropna(subset="peak_mb")
    assert len(local) > 60
    # model_card loads a whole model, for seconds.
    assert not list(local.index[(local["seconds"] > 12) | (local["peak_mb"] > 1100)])
    assert not list(local.index[local["gpu"] > 0])


def test_what_is_given_a_device_asks_for_a_gpu_and_threads(default: pd.DataFrame) -> None:
    given = default[default["device"]]
    assert {"extract", "finetune_random", "random_body", "train_probes"} <= set(given.index)
    assert (given["_cores"] == 4).all()
    assert set(default.index[default["gpu"] > 0]) == set(given.index)
