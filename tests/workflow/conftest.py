"""The tiny study, run once to the end."""

from pathlib import Path

import pytest

from tests.workflow.tiny_study import TinyStudy


@pytest.fixture(scope="session")
def tiny_study(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> TinyStudy:
    """The whole DAG on a tiny random model; tests must leave it as they found it."""
    tiny_study = TinyStudy(tmp_path_factory.mktemp("tiny_study"), tiny_model_dir)
    tiny_study.run()
    return tiny_study


@pytest.fixture
def copied_study(tiny_study: TinyStudy, tmp_path: Path) -> TinyStudy:
    """A copy of the finished tiny study that a test may change."""
    import copy
    import shutil

    folder = tmp_path / "tiny_study"
    shutil.copytree(tiny_study.folder, folder, symlinks=True)
    twin = copy.copy(tiny_study)
    twin.folder, twin.config = folder, copy.deepcopy(tiny_study.config)
    return twin
