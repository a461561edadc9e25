"""The tiny study, run once to the end."""

from pathlib import Path

import pytest
from filelock import FileLock

from tests.workflow.tiny_study import TinyStudy


@pytest.fixture(scope="session")
def tiny_study(
    tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path, worker_id: str
) -> TinyStudy:
    """The whole DAG on a tiny random model, finished; tests must not change it.

    One worker of the test run makes it for all.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "tiny_study"
    with FileLock(f"{folder}.lock"):
        finished = folder.with_name("tiny_study.finished")
        if finished.exists():
            return TinyStudy.made_at(folder)
        study = TinyStudy(folder, tiny_model_dir)
        study.run()
        finished.touch()
    return study


@pytest.fixture
def copied_study(tiny_study: TinyStudy, tmp_path: Path) -> TinyStudy:
    """A copy of the finished tiny study that a test may change."""
    return tiny_study.copy(tmp_path / "tiny_study")
