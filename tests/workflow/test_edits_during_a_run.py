"""Edits while a run is under way reach none of its jobs unnoticed, and no run in a work tree."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workflow.submitting import OUTPUT, SUBMITTED, submit_script
from tests.workflow.tiny_study import TinyStudy, refusal

VECTORS = "results/tiny/corpora/own.vectors.safetensors"
SCRIPT = "workflow_scripts/corpora/word_vectors.py"
# Each job that is submitted waits for this file.
GO = "go"


@pytest.fixture
def study(tmp_path: Path, tiny_model_dir: Path) -> TinyStudy:
    """A study whose submitted jobs start when they are let go."""
    folder = tmp_path / "atlas"
    folder.mkdir()
    study = TinyStudy(folder, tiny_model_dir)
    submit_script(folder, before=f"until test -e {GO}; do sleep 0.1; done")
    return study


@contextmanager
def under_way(folder: Path, *options: str) -> Iterator[subprocess.Popen]:
    """A run of which one job has been submitted, which starts when `GO` is there."""
    command = [sys.executable, "-m", "snakemake", VECTORS, *options]
    run = subprocess.Popen(
        [*command, "--cores", "2", "--configfile", "tiny.yaml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    assert run.stdout
    try:
        for line in run.stdout:
            lines.append(line)
            if "Submitted job" in line:
                break
        assert run.poll() is None, "".join(lines)
        yield run
    finally:
        (folder / GO).touch()
        run.stdout.read()
        run.wait(timeout=600)


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_submitted_job_refuses_a_script_that_was_edited_since(study: TinyStudy) -> None:
    with under_way(study.folder, *SUBMITTED) as run:
        append(study.folder / SCRIPT, "\nADDED = 1\n")
    assert run.returncode == 1
    assert not (study.folder / VECTORS).exists()
    line = refusal((study.folder / OUTPUT).read_text())
    assert line.startswith("workflow_scripts/: edited while the run was under way; ")


def test_a_job_on_this_machine_refuses_an_edited_script(study: TinyStudy) -> None:
    log = study.folder / "results/tiny/logs/corpora/made-up.segments.log"
    command = [sys.executable, "-m", "snakemake", VECTORS]
    run = subprocess.Popen(
        [*command, "--retries", "0", "--cores", "2", "--configfile", "tiny.yaml"],
        cwd=study.folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not log.exists() and run.poll() is None:  # the first of the two jobs
        time.sleep(0.01)
    append(study.folder / SCRIPT, "\nADDED = 1\n")
    _, printed = run.communicate(timeout=600)
    assert run.returncode == 1
    assert f"{SCRIPT}: was edited after this job was planned" in printed
    assert not (study.folder / VECTORS).exists()


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = [shutil.which("git") or "git", *who, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def work_tree(study: TinyStudy) -> Path:
    """A work tree next to the study's checkout, made as docs/running.md describes."""
    (study.folder / ".gitignore").write_text("results\n.snakemake\n.provenance\n__pycache__\n")
    git(study.folder, "init", "--quiet")
    git(study.folder, "add", "--all")
    git(study.folder, "commit", "--quiet", "--message", "study")
    tree = study.folder.parent / "atlas-run"
    git(study.folder, "worktree", "add", "--detach", str(tree))
    for name in ("results", ".snakemake"):
        (study.folder / name).mkdir(exist_ok=True)
        (tree / name).symlink_to(study.folder / name)
    return tree


def test_edits_do_not_reach_a_run_in_a_work_tree(study: TinyStudy) -> None:
    tree = work_tree(study)
    with under_way(tree, *SUBMITTED) as run:
        for file in (SCRIPT, "rules/corpora.smk"):
            append(study.folder / file, "\nADDED = 1\n")
        append(study.folder / "tiny.yaml", "seed: 2\n")
    assert run.returncode == 0
    assert (study.folder / VECTORS).is_file()
    record = study.folder / "results/tiny/corpora/.provenance/own.vectors.safetensors.json"
    assert json.loads(record.read_text())["seed"] == 1
    git(study.folder, "checkout", ".")
    done = study.snakemake(VECTORS, "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr
