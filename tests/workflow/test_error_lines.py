"""The line of an error is the first and the last of what Snakemake prints about it."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.workflow.submitting import SUBMITTED, submit_script
from tests.workflow.tiny_study import TinyStudy

TREES = "Error: trees/0.conllx:1: 1 columns between tabs, conllx has 10; fix the line"
TARGETS = ("results/tiny/corpora/trees.jsonl", "results/tiny/corpora/own.vectors.safetensors")


@pytest.fixture
def study(tmp_path: Path, tiny_model_dir: Path) -> TinyStudy:
    """A small study with a malformed treebank."""
    study = TinyStudy(tmp_path, tiny_model_dir)
    (study.folder / "trees/0.conllx").write_text("garbage\n")
    return study


def printed(done: CompletedProcess) -> list[str]:
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.splitlines()


def first_and_last(lines: list[str], error: str, blocks: str) -> bool:
    """Whether `error` stands before the first line that starts with `blocks`, and at the end."""
    block = next(n for n, line in enumerate(lines) if line.startswith(blocks))
    return error in lines[:block] and lines[-1] == error


def test_a_job_on_this_machine(study: TinyStudy) -> None:
    lines = printed(study.snakemake(TARGETS[0], "--retries", "0"))
    assert first_and_last(lines, TREES, "RuleException")


def test_each_of_several_failed_jobs_is_named_once_at_the_end(study: TinyStudy) -> None:
    study.config["corpora"]["vectors"] = {"own": {"path": "vectors.txt", "dimensions": 4}}
    study.write_config()
    (study.folder / "vectors.txt").write_text("word 1 2 nonsense 4\n")
    lines = printed(study.snakemake(*TARGETS, "--keep-going"))
    end = lines[lines.index("At least one job did not complete successfully.") + 1 :]
    assert len(end) == 2
    assert TREES in end
    assert any(line.startswith("Error: vectors.txt:1: ") for line in end)


def test_a_wrong_key(study: TinyStudy) -> None:
    study.config["surfac"] = {}
    study.write_config()
    lines = printed(study.snakemake("--dry-run"))
    (error,) = {line for line in lines if line.startswith("Error: config: surfac: unknown key")}
    assert lines[0].startswith("Using workflow specific profile")  # before a file of ours is read
    assert lines[1] == lines[-1] == error


def test_a_checkout_in_a_folder_with_braces(tmp_path: Path, tiny_model_dir: Path) -> None:
    folder = tmp_path / "{text}"
    folder.mkdir()
    lines = printed(TinyStudy(folder, tiny_model_dir).snakemake("--dry-run"))
    error = (
        f"Error: {folder}: braces stand for wildcards in commands of Snakemake; rename the folder"
    )
    assert lines[1] == lines[-1] == error


def test_a_submitted_job_and_one_killed_before_it_could_say_anything(study: TinyStudy) -> None:
    submit_script(study.folder)
    study.config["corpora"]["vectors"] = {"own": {"path": "vectors.txt", "dimensions": 4}}
    study.write_config()
    (study.folder / "vectors.txt").write_text("word 1 2 nonsense 4\n")
    lines = printed(study.snakemake(TARGETS[1], *SUBMITTED))
    (error,) = {line for line in lines if line.startswith("Error: vectors.txt:1: ")}
    assert first_and_last(lines, error, "Error in rule")
    # The next job dies at once; the log that is there is of the one before.
    submit_script(study.folder, instead="exit 1")
    lines = printed(study.snakemake(TARGETS[1], *SUBMITTED))
    end = lines.index("At least one job did not complete successfully.") + 1
    assert len(lines[end:]) == 1
    assert lines[-1].startswith(f"Error: rule word_vectors ({TARGETS[1]}): ")
