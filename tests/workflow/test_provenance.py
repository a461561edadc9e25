"""The records of a finished study, and a second run with the same seed elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.tiny_study import TinyStudy

# Texts, word vectors, a model's card, caches of attention, a measure and its table.
TARGETS = ("tiny/tables/clark2019-broad.csv", "tiny/surface/position.parquet")
TARGETS += ("corpora/own.vectors.safetensors", "corpora/trees.jsonl", "tasks/mrpc.parquet")


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> TinyStudy:
    """A part of the same study, made from scratch in another folder."""
    study = TinyStudy(tmp_path_factory.mktemp("again"), tiny_model_dir)
    study.run(*(f"results/tiny/{target}" for target in TARGETS))
    return study


def test_every_product_of_a_study_is_recorded_and_as_recorded(tiny_study: TinyStudy) -> None:
    command = [sys.executable, "-m", "workflow_scripts.core.integrity.provenance", "results/tiny"]
    done = subprocess.run(command, cwd=tiny_study.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    count = int(done.stdout.split()[1])
    assert count > 300, done.stdout


def test_two_runs_with_one_seed_are_equal_to_the_byte_records_included(
    tiny_study: TinyStudy, again: TinyStudy
) -> None:
    first, second = (study.folder / "results/tiny" for study in (tiny_study, again))
    made = {path.relative_to(second) for path in second.rglob("*") if path.is_file()}
    compared = {path for path in made if path.parts[0] not in ("logs", "benchmarks")}
    assert {Path(target) for target in TARGETS} < compared
    assert Path("tiny/surface/.provenance/position.parquet.json") in compared
    differing = [str(p) for p in compared if (first / p).read_bytes() != (second / p).read_bytes()]
    assert differing == []
