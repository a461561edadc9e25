"""A results directory that cannot be written, and jobs that end well without their products."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults.mounts import make_read_only, mounted
from tests.faults.products import ENTROPY, TABLE, assert_equal, partial
from tests.workflow.tiny_study import TinyStudy, refusal

NOBODY = 65534
NOT_WRITABLE = "{}: not writable; change its permissions or run in another --directory"


def test_a_read_only_results_directory(prepared: TinyStudy, study: TinyStudy) -> None:
    """Refused before any job starts; root, who is above permissions, is refused too."""
    (study.folder / ENTROPY).unlink()
    with mounted(study.folder / "results", "size=20m") as results:
        make_read_only(results)
        done = study.snakemake(ENTROPY)
    assert done.returncode != 0
    assert refusal(done.stderr) == NOT_WRITABLE.format(study.folder / "results")
    assert "rule entropy" not in done.stdout + done.stderr
    study.run(ENTROPY)
    assert_equal(study, prepared, ENTROPY, TABLE)


def test_a_results_directory_of_another_user(prepared: TinyStudy) -> None:
    """The study belongs to nobody, its results to root."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user, with setpriv")
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if subprocess.run([*become, sys.executable, "-c", ""], capture_output=True).returncode != 0:
        pytest.skip(f"{sys.executable} is out of reach for another user")
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    try:
        study = prepared.copy(folder / "study")
        os.chown(folder, NOBODY, NOBODY)
        for path in (study.folder, *study.folder.rglob("*")):
            if "results" not in path.relative_to(study.folder).parts[:1]:
                os.chown(path, NOBODY, NOBODY)
        command = [*become, sys.executable, "-m", "snakemake", ENTROPY, "--cores", "1"]
        done = subprocess.run(
            [*command, "--configfile", "tiny.yaml"],
            cwd=study.folder,
            env=os.environ | {"HOME": str(folder), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0
        assert refusal(done.stderr) == NOT_WRITABLE.format(study.folder / "results")
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("written", [False, True], ids=["nothing", "half"])
def test_a_job_that_ends_well_without_its_product(
    prepared: TinyStudy, study: TinyStudy, written: bool
) -> None:
    """As of a library that ends the process with status 0 in the middle."""
    (study.folder / ENTROPY).unlink()
    script = study.folder / "workflow_scripts/surface/entropy.py"
    text = script.read_text()
    half = 'entropy.write_bytes(b"half"); ' if written else ""
    start = text.index("\n    patterns = open_patterns(") + 1
    script.write_text(text[:start] + f"    {half}__import__('os')._exit(0)\n" + text[start:])
    done = study.snakemake("--latency-wait", "1", ENTROPY)
    assert done.returncode != 0
    assert "some output files are missing" in done.stderr
    assert ENTROPY in done.stderr.partition("some output files are missing")[2]
    assert not (study.folder / ENTROPY).exists()
    script.write_text(text)
    study.run(ENTROPY)
    assert_equal(study, prepared, ENTROPY, TABLE)
    assert partial(study) == []
