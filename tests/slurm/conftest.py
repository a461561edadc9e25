"""One SLURM for all tests of a process, or the reason why there is none here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import CannotStart, Cluster, missing
from tests.slurm.small_study import SmallStudy


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running SLURM of one node with the partitions cpu and gpu."""
    if reason := missing():
        pytest.skip(reason)
    try:
        started = Cluster().start()
    except CannotStart as error:
        pytest.skip(f"SLURM does not start here: {error}")
    yield started
    started.stop()


@pytest.fixture
def small_study(cluster: Cluster, tmp_path: Path) -> SmallStudy:
    """A workflow of one job that waits for a sign, not started yet."""
    return SmallStudy(tmp_path, cluster)
