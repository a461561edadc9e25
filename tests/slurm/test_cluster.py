"""The SLURM of the tests is a real one, and leaves the machine as it was."""

import os
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.small_study import wait_for


def commands() -> str:
    """The command lines of all processes."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
    return "\n".join(found)


def test_it_answers_and_its_node_is_ready(cluster: Cluster) -> None:
    assert cluster.munge_works()
    assert "is UP" in cluster.output("scontrol", "ping")
    node = cluster.output("sinfo", "-h", "-N", "-o", "%R %T %G").splitlines()
    assert node == ["cpu idle gpu:2", "gpu idle gpu:2"]


@pytest.mark.parametrize("dead", [[], ["munged"], ["munged", "slurmctld", "slurmd"]], ids=str)
def test_nothing_is_left_of_it(dead: list[str], cluster: Cluster) -> None:
    system = {path: os.stat(path).st_mtime_ns for path in Path("/etc/slurm").glob("**/*")}
    second = Cluster().start()
    job = second.output("sbatch", "--parsable", "--output=/dev/null", "--wrap=sleep 600").strip()
    assert job == "1"
    assert str(second.folder) in commands()
    wait_for(lambda: "job00001/slurm_script" in commands(), commands)
    for daemon in dead:
        second.kill(daemon)
    second.stop()
    assert str(second.folder) not in commands()
    assert not second.folder.exists()
    assert {path: os.stat(path).st_mtime_ns for path in Path("/etc/slurm").glob("**/*")} == system
    assert "is UP" in cluster.output("scontrol", "ping")
