"""Snakemake in the background, and the processes of its jobs: found, stopped and killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.workflow.tiny_study import TinyStudy

LONGEST = 600  # seconds after which a wait has failed


class Started:
    """A snakemake that runs in a session of its own; what it prints goes to a file."""

    def __init__(self, study: TinyStudy, *options: str, **environment: str) -> None:
        self.log = study.folder / "snakemake.log"
        command = [sys.executable, "-m", "snakemake", *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--cores", "2", "--configfile", "tiny.yaml"],
                cwd=study.folder,
                env=os.environ | {"HF_HUB_OFFLINE": "1"} | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def printed(self) -> str:
        """What it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ended(self) -> int:
        """Wait for its end; its exit status."""
        return self.process.wait(timeout=LONGEST)


@contextmanager
def started(study: TinyStudy, *options: str) -> Iterator[Started]:
    """A snakemake in the background; whatever of its session is left at the end is killed."""
    run = Started(study, *options)
    try:
        yield run
    finally:
        for pid in session(run.process.pid):
            os.kill(pid, signal.SIGKILL)
        run.process.wait(timeout=LONGEST)


def until(seen: Callable[[], Any], what: str) -> Any:
    """Wait until `seen` gives something true, which is returned."""
    latest = time.monotonic() + LONGEST
    while time.monotonic() < latest:
        if found := seen():
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited {LONGEST} s for {what}")


def job_of(study: TinyStudy, script: str) -> int:
    """The process that runs a rule's script in the study, once there is one."""
    folder = f"{study.folder}/.snakemake/scripts/"

    def found() -> int | None:
        for pid in _processes():
            words = _command(pid)
            if any(word.startswith(folder) and word.endswith(f".{script}.py") for word in words):
                return pid
        return None

    return until(found, f"a job that runs {script}.py")


def stop_at(pid: int, path: Path) -> bool:
    """Stop the process when something stands in the file `path`; false where it was too quick.

    The path is looked at without a pause: a small table is there for a millisecond.
    """
    latest = time.monotonic() + LONGEST
    while time.monotonic() < latest:
        for _ in range(1000):
            if _size(path):
                return _stopped(pid) and path.exists()
        if not alive(pid):
            return False
    raise AssertionError(f"waited {LONGEST} s for {path}")


def alive(pid: int) -> bool:
    """Whether the process runs or is stopped."""
    return _state(pid) not in ("", "Z", "X")


def go_on(pid: int) -> None:
    """Let a stopped process go on, if it still is there."""
    if alive(pid):
        os.kill(pid, signal.SIGCONT)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):  # a job tries its folder with a file first
        return 0


def _stopped(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    until(lambda: _state(pid) not in ("R", "S", "D"), f"process {pid} to stop")
    return _state(pid) == "T"


def _state(pid: int) -> str:
    """The letter of a process's state; empty where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def session(leader: int) -> list[int]:
    """The processes of a session that run or are stopped."""
    return [pid for pid in _processes() if alive(pid) and _of_session(pid, leader)]


def _of_session(pid: int, leader: int) -> bool:
    try:
        return os.getsid(pid) == leader
    except ProcessLookupError:
        return False


def _command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
