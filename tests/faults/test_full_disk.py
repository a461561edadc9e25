"""A disk that is full while a cache or a checkpoint is written."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.products import CACHE, CHECKPOINT, OF_TRAINING, assert_equal, partial, remove
from tests.workflow.tiny_study import TinyStudy

SIZE = 6_000_000  # bytes of the small disk


@pytest.fixture
def small_disk(study: TinyStudy) -> Iterator[Path]:
    """The study's results on a small tmpfs; skipped where a test cannot mount one."""
    results, aside = study.folder / "results", study.folder / "aside"
    results.rename(aside)
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(results)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk, and not on every machine")
    shutil.copytree(aside, results, dirs_exist_ok=True, symlinks=True)
    yield results
    subprocess.run([shutil.which("umount") or "umount", str(results)], check=True)


@pytest.mark.parametrize(
    "products",
    [[CACHE], [OF_TRAINING[-1], CHECKPOINT, *OF_TRAINING[:-1]]],
    ids=["cache", "checkpoint"],
)
def test_a_full_disk(
    prepared: TinyStudy, study: TinyStudy, small_disk: Path, products: list[str]
) -> None:
    for product in products:
        remove(study.folder / product)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - 60_000))
    failed = study.snakemake(products[0])
    assert failed.returncode != 0
    assert "No space left on device" in failed.stderr
    assert not any((study.folder / product).exists() for product in products)
    assert partial(study) == []
    ballast.unlink()
    study.run(products[0])
    assert_equal(study, prepared, *products)
    assert partial(study) == []
