"""The profiles, alone and with the workflow's own, and what the SLURM plugin makes of them."""

import importlib.util
from argparse import Namespace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml
from snakemake.cli import parse_args
from snakemake.logging import logger
from snakemake_executor_plugin_slurm.partitions import get_best_partition, read_partition_file

ROOT = Path(__file__).parents[1]
PARTITIONS = ROOT / "profiles/slurm/partitions.yaml"
NONE_FITS = "no-partition-fits"


def options(*arguments: str) -> Namespace:
    """What snakemake makes of a command line and of the profiles that it then reads."""
    return parse_args(["--snakefile", str(ROOT / "Snakefile"), *arguments])[1]


def script() -> ModuleType:
    """profiles/slurm/partitions.py, which is not part of the package."""
    spec = importlib.util.spec_from_file_location("partitions", PARTITIONS.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chosen(file: Path, threads: int = 1, **resources: int) -> str | None:
    """The partition that the plugin chooses for a job with these requests."""
    job = SimpleNamespace(name="job", threads=threads, resources=resources)
    return get_best_partition(read_partition_file(file), job, logger)


@pytest.mark.parametrize("profile", sorted(p.name for p in (ROOT / "profiles").iterdir()))
def test_every_profile_has_the_workflows_own_settings(profile: str) -> None:
    found = options("--profile", str(ROOT / "profiles" / profile))
    assert found.scheduler == "greedy"
    assert found.rerun_incomplete
    assert "code" not in {str(trigger) for trigger in found.rerun_triggers}


def test_one_machine_limits_models_to_its_gpu_and_only_where_asked() -> None:
    assert set(options("--profile", str(ROOT / "profiles/gpu")).resources) == {"gpu"}
    assert not options().resources
    assert set(options("--profile", str(ROOT / "profiles/slurm")).resources) == {"serial"}


def test_slurm_gives_each_attempt_more_memory_and_time() -> None:
    found = options("--profile", str(ROOT / "profiles/slurm"))
    assert (found.executor, found.retries, found.keep_going) == ("slurm", 2, True)
    defaults = {resource.name: resource for resource in found.default_resources.values()}
    others = {"threads": 1, "rulename": "", "async_run": None}
    for name in ("mem_mb", "runtime"):
        first, third = (
            defaults[name].evaluate({}, input=[], attempt=attempt, **others) for attempt in (1, 3)
        )
        assert third.value == 3 * first.value > 0


def test_slurm_sends_to_gpus_what_asks_for_one() -> None:
    assert chosen(PARTITIONS, mem_mb=4000, runtime=240, gpu=1) == "gpu"
    assert chosen(PARTITIONS, mem_mb=4000, runtime=240, gpu=0) == "cpu"
    assert chosen(PARTITIONS, mem_mb=4000) == "cpu"


def test_partitions_are_read_from_sinfo(tmp_path: Path) -> None:
    lines = [
        "short|16|64000|(null)|4:00:00",
        "short|32|32000|(null)|4:00:00",
        "long|16|64000|(null)|infinite",
        "gpu|64|500000|gpu:a100:4(S:0-1),gpu:h100:2(IDX:0,2),shard:8|2-00:00:00",
    ]
    found = script().partitions(lines)
    assert found["short"] == {
        "max_threads": 32,
        "max_mem_mb": 64000,
        "max_gpu": 0,
        "max_runtime": "4:00:00",
    }
    assert found["long"] == {"max_threads": 16, "max_mem_mb": 64000, "max_gpu": 0}
    assert found["gpu"]["max_gpu"] == 6
    file = tmp_path / "partitions.yaml"
    file.write_text(yaml.safe_dump({"partitions": found}, sort_keys=False), encoding="utf-8")
    assert chosen(file, runtime=60) == "short"
    assert chosen(file, runtime=300) == "long"
    assert chosen(file, runtime=300, gpu=1) == "gpu"
    assert chosen(file, mem_mb=400_000) == "gpu"
    assert chosen(file, mem_mb=600_000) == NONE_FITS
