"""Which weights a study leaves on the disk."""

from pathlib import Path

from tests.workflow.tiny_study import TinyStudy


def removable(study: TinyStudy) -> str:
    """What snakemake states that it would delete of the outputs that are marked as temporary."""
    done = study.snakemake("all", "--delete-temp-output", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_weights_that_are_read_again_are_kept(tiny_study: TinyStudy) -> None:
    results = tiny_study.folder / "results/tiny/tiny"
    kept = {path.parent.relative_to(results) for path in results.rglob("model.safetensors")}
    finished = {"mrpc.finetuned.1", "mrpc.finetuned.1.epochs/epoch-1", "mrpc.random.1"}
    assert kept >= {Path("checkpoints", folder) for folder in finished}
    assert not list(results.glob("checkpoints/*.work"))
    found = removable(tiny_study)
    assert "tiny/checkpoints" not in found
    assert "tiny/arguments" not in found
