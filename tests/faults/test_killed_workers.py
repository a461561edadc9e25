"""SIGKILL of a job in the middle of what it writes, and of Snakemake itself."""

import os
import signal

import pytest

from tests.faults.processes import alive, go_on, job_of, started, stop_at, until
from tests.faults.products import (
    CACHE,
    CHECKPOINT,
    ENTROPY,
    OF_TRAINING,
    TABLE,
    assert_equal,
    error_lines,
    partial,
)
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.core.model.training import STATE


def kill_at(study: TinyStudy, script: str, half: str, target: str) -> None:
    """Run to `target`, and kill the job that runs `script` as soon as it writes `half`."""
    for _ in range(5):
        with started(study, target) as run:
            job = job_of(study, script)
            if not stop_at(job, study.folder / half) or (study.folder / target).exists():
                go_on(job)
                run.ended()  # it was too quick
                (study.folder / target).unlink()
                continue
            os.kill(job, signal.SIGKILL)
            assert run.ended() == 1
            assert "SIGKILL" in run.printed
            return
    raise AssertionError(f"{half} was never seen")


@pytest.mark.parametrize(
    ("script", "half", "products"),
    [
        ("extract", f"{CACHE}.part", [CACHE]),
        ("entropy", f"{ENTROPY}.part", [ENTROPY, TABLE]),
    ],
    ids=["cache", "table"],
)
def test_a_job_killed_while_it_writes(
    prepared: TinyStudy, study: TinyStudy, script: str, half: str, products: list[str]
) -> None:
    for product in products:
        (study.folder / product).unlink()
    kill_at(study, script, half, products[0])
    assert not any((study.folder / product).exists() for product in products)
    assert partial(study)
    study.run(products[0])
    assert_equal(study, prepared, *products)
    assert partial(study) == []


def test_a_training_killed_in_an_epoch_and_at_the_end(
    prepared: TinyStudy, study: TinyStudy
) -> None:
    """It goes on after its last whole epoch, with the same weights and scores in the end."""
    for path in OF_TRAINING:
        (study.folder / path).unlink()
    card, log = OF_TRAINING[-1], study.folder / "results/tiny/logs/checkpoints"
    kill_at(study, "finetune", f"{CHECKPOINT}.work/{STATE}", card)
    assert not (study.folder / CHECKPOINT).exists()
    kill_at(study, "finetune", f"{CHECKPOINT}.part/model.safetensors", card)
    (log,) = log.glob("*.finetune.log")
    assert "training resumes after 1 whole epochs" in log.read_text()
    assert not (study.folder / CHECKPOINT).exists()
    study.run(card)
    assert "training resumes after 3 whole epochs" in log.read_text()
    assert_equal(study, prepared, CHECKPOINT, *OF_TRAINING)
    assert partial(study) == []
    assert not (study.folder / f"{CHECKPOINT}.work").exists()


def test_snakemake_killed_while_its_job_lives_on(prepared: TinyStudy, study: TinyStudy) -> None:
    (study.folder / CACHE).unlink()
    with started(study, CACHE) as run:
        job = job_of(study, "extract")
        assert stop_at(job, study.folder / f"{CACHE}.part")
        os.kill(run.process.pid, signal.SIGKILL)
        run.ended()
        assert alive(job)
        locked = study.snakemake(CACHE)
        assert locked.returncode != 0
        assert "Directory cannot be locked" in locked.stderr
        unlocked = study.snakemake("--unlock")
        assert unlocked.returncode == 0, unlocked.stderr
        while_writing = study.snakemake(CACHE)  # while the old job still writes
        assert while_writing.returncode != 0
        (line,) = error_lines(while_writing.stderr)
        assert "another process, perhaps left by a killed run, still makes the products" in line
        assert (study.folder / f"{CACHE}.part").exists()
        os.kill(job, signal.SIGCONT)
        until(lambda: not alive(job), "the old job to end")
    study.run(CACHE)
    assert_equal(study, prepared, CACHE)
    assert partial(study) == []
