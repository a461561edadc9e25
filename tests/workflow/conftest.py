"""The tiny study, run once to the end."""

from pathlib import Path

import pytest

from tests.workflow.house import House


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> House:
    """The whole DAG on a tiny random model; tests must leave it as they found it."""
    house = House(tmp_path_factory.mktemp("house"), tiny_model_dir)
    house.run()
    return house


@pytest.fixture
def copied_house(house: House, tmp_path: Path) -> House:
    """A copy of the finished tiny study that a test may change."""
    import copy
    import shutil

    folder = tmp_path / "house"
    shutil.copytree(house.folder, folder, symlinks=True)
    twin = copy.copy(house)
    twin.folder, twin.config = folder, copy.deepcopy(house.config)
    return twin
