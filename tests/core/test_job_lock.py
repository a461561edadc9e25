"""Locks of jobs: one process at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity.job_lock import locked

HOLDER = """
import sys, time
from pathlib import Path
from workflow_scripts.core.integrity.job_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_job_is_refused_while_another_process_runs_it_and_not_after_it_was_killed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "job.log"
    command = [sys.executable, "-c", HOLDER, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=r"job\.log\.lock: another process"), locked(log):
            pass
        other.kill()
    for _ in range(2):
        with locked(log):
            assert (tmp_path / "job.log.lock").exists()
        assert list(tmp_path.iterdir()) == []
