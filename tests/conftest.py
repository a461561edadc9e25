"""What many tests share: a tiny model, and the real data where they are present."""

import os
import signal
from pathlib import Path

import pytest

# A shell that runs the tests in the background ignores interrupts; what tests start must not.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["HF_HUB_OFFLINE"] = "1"  # tests never access the hub
# Threads that share the kernels of a tiny model mostly wait for each other, above all where other
# processes hold the cores; the jobs that tests start inherit this too.
os.environ["OMP_NUM_THREADS"] = "1"
ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put whole runs of the workflow first: the longest waits are then not the last."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/workflow/"))


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT in Hugging Face format."""
    from tests.core.tiny_models import save_bert

    return save_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data next to the checkout; the test is skipped without it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real data next to the checkout")
    return folder
