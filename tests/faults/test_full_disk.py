"""A disk that is full while a cache, a checkpoint or a table is written."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.mounts import mounted
from tests.faults.products import (
    CACHE,
    CHECKPOINT,
    ENTROPY,
    OF_TRAINING,
    TABLE,
    assert_equal,
    error_lines,
    partial,
    remove,
)
from tests.workflow.tiny_study import TinyStudy

SIZE = 6_000_000  # bytes of the small disk


@pytest.fixture
def small_disk(study: TinyStudy) -> Iterator[Path]:
    """The study's results on a small tmpfs."""
    with mounted(study.folder / "results", f"size={SIZE}") as results:
        yield results


def fill(results: Path, left: int) -> Path:
    """A file that leaves so many bytes of the disk."""
    ballast = results / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(results).free - left))
    return ballast


@pytest.mark.parametrize(
    ("products", "left"),
    [
        ([CACHE], 60_000),
        ([OF_TRAINING[-1], CHECKPOINT, *OF_TRAINING[:-1]], 60_000),
        ([ENTROPY, TABLE], 4096),
    ],
    ids=["cache", "checkpoint", "table"],
)
def test_a_full_disk(
    prepared: TinyStudy, study: TinyStudy, small_disk: Path, products: list[str], left: int
) -> None:
    for product in products:
        remove(study.folder / product)
    ballast = fill(small_disk, left)
    failed = study.snakemake(products[0])
    assert failed.returncode != 0
    (line,) = error_lines(failed.stderr)
    folder = str(Path(products[0]).parent)
    assert line == f"Error: {folder}: no space left on the device; make room and run again"
    assert not any((study.folder / product).exists() for product in products)
    assert partial(study) == []
    ballast.unlink()
    study.run(products[0])
    assert_equal(study, prepared, *products)
    assert partial(study) == []
