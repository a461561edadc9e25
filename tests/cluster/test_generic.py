"""profiles/generic submits to a batch system: jobs that end well, fail, die and are cancelled."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workflow.tiny_study import TinyStudy

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "profiles/generic"
OPTIONS = ("--seconds-between-status-checks", "1")
# Jobs that report that they run, and wait until they are let go.
SNAKEFILE = """
rule all:
    input: "good", "bad", "grown"
rule good:
    output: "good"
    shell: "touch good.runs; until [ -e go ]; do sleep 0.1; done; touch {output}"
rule bad:
    output: "bad"
    shell: "touch {output}; exit 1"
rule grown:
    output: "grown"
    resources: mem_mb=lambda w, attempt: 1000 * attempt
    shell: "[ {resources.mem_mb} = 2000 ] && touch {output} grown.memory"
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a batch system's jobs, whose commands are found first."""
    programs, jobs = tmp_path / "bin", tmp_path / "jobs"
    programs.mkdir()
    jobs.mkdir()
    for name in ("qsub", "qstat", "qdel"):
        shutil.copy(Path(__file__).with_name("pbs.sh"), programs / name)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN", str(jobs))
    return jobs


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a workflow of three jobs, of which one fails."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    return folder


def start(folder: Path, *options: str) -> subprocess.Popen:
    """Snakemake with the profile, in a folder, its output in `printed`."""
    command = [sys.executable, "-m", "snakemake", "--profile", str(PROFILE), *OPTIONS, *options]
    with (folder / "printed").open("w") as printed:
        return subprocess.Popen(command, cwd=folder, stdout=printed, stderr=subprocess.STDOUT)


def wait_for(holds: Callable[[], bool], seconds: float = 600) -> None:
    """Wait until something holds; fail where it does not come to."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def asked(queue: Path) -> list[str]:
    """The options that qsub was given for each job."""
    return [file.read_text(encoding="utf-8") for file in queue.glob("*/asked")]


def test_a_study_runs_and_its_models_go_to_the_gpu_queue(
    queue: Path, tmp_path: Path, tiny_model_dir: Path
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    study = TinyStudy(folder, tiny_model_dir)
    study.config["attention"]["shards"] = 2
    study.config["device"] = "auto"  # which asks for a GPU, wherever the head may run
    study.write_config()
    target = "results/tiny/tiny/attention/made-up.h5"
    done = study.snakemake(target, "--profile", "profiles/generic", *OPTIONS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / target).is_file()
    found = sorted(re.search(r"-q (\w+) .*:ngpus=(\d):", line).groups() for line in asked(queue))
    # The join of a cache, and the two extractions of its shards. Others are light.
    assert found == [("cpu", "0"), ("gpu", "1"), ("gpu", "1")]


def test_a_job_that_fails_has_more_memory_next_and_stops_no_other(queue: Path, small: Path) -> None:
    (small / "go").touch()
    assert start(small).wait(timeout=600) == 1
    assert {name for name in ("good", "bad", "grown") if (small / name).exists()} == {
        "good",
        "grown",
    }
    memory = sorted(int(re.search(r"mem=(\d+)mb", line)[1]) for line in asked(queue))
    # Three attempts at `bad`, two at `grown`, one at `good`.
    assert memory == [1000, 2000, 2000, 2000, 4000, 6000]
    assert "Error in rule bad" in (small / "printed").read_text(encoding="utf-8")


def test_a_job_that_is_killed_is_submitted_again(queue: Path, small: Path) -> None:
    running = start(small)
    wait_for((small / "good.runs").exists)
    pids = {job.parent: int(job.read_text()) for job in queue.glob("*/pid")}
    killed = [folder for folder in pids if not (folder / "ended").exists()]
    for folder in killed:
        os.killpg(pids[folder], signal.SIGKILL)
    (small / "good.runs").unlink()
    (small / "go").touch()
    assert running.wait(timeout=600) == 1  # of `bad`
    assert (small / "good").exists()
    assert (small / "good.runs").exists()


def test_an_interrupt_cancels_the_jobs(queue: Path, small: Path) -> None:
    running = start(small, "--seconds-between-status-checks", "10")
    wait_for((small / "good.runs").exists)
    # Snakemake forgets to cancel what it is asking about at this moment.
    last_asked = queue.parent / "asked_about"
    wait_for(lambda: last_asked.exists() and 2 < time.time() - last_asked.stat().st_mtime < 5)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=600) != 0
    printed = (small / "printed").read_text(encoding="utf-8")
    assert "Terminating processes on user request" in printed
    pids = [int(file.read_text()) for file in queue.glob("*/pid")]
    wait_for(lambda: not any(is_alive(pid) for pid in pids), seconds=10)
    (small / "go").touch()
    time.sleep(0.5)
    assert not (small / "good").exists()


def is_alive(pid: int) -> bool:
    """Whether a process, or one of its group, runs."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True
