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
    finished = {"mrpc.pretrained.1", "sst2.pretrained.1", "mrpc.pretrained.1.epochs/epoch-1"}
    assert kept >= {Path("checkpoints", folder) for folder in finished}
    assert not [path for path in kept if ".random." in str(path)]
    assert not list(results.glob("checkpoints/*.work"))
    assert "pretrained" not in removable(tiny_study)
    assert "tiny/arguments" not in removable(tiny_study)


def test_a_study_can_remove_weights_after_their_last_reader(copied_study: TinyStudy) -> None:
    copied_study.config["checkpoints"]["finetune"]["keep_weights"] = False
    copied_study.write_config()
    named = removable(copied_study)
    assert "results/tiny/tiny/checkpoints/mrpc.pretrained.1.epochs" in named
    assert "results/tiny/tiny/arguments/bert.original.1" in named
    assert "results/tiny/tiny/checkpoints/mrpc.pretrained.1\n" not in named
