"""The tiny study, run once to the end."""

from pathlib import Path

import pytest

from tests.workflow.finished import finished_once
from tests.workflow.tiny_study import TinyStudy


@pytest.fixture(scope="session")
def tiny_study(
    tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path, worker_id: str
) -> TinyStudy:
    """The whole DAG on a tiny random model, finished; tests must not change it."""

    def make(folder: Path) -> None:
        TinyStudy(folder, tiny_model_dir).run()

    return finished_once("tiny_study", make, tmp_path_factory, worker_id)


@pytest.fixture
def copied_study(tiny_study: TinyStudy, tmp_path: Path) -> TinyStudy:
    """A copy of the finished tiny study that a test may change."""
    return tiny_study.copy(tmp_path / "tiny_study")
