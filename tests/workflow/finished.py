"""A finished study that all workers of a test run share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from tests.workflow.tiny_study import TinyStudy


def finished_once(
    name: str, make: Callable[[Path], None], folders: pytest.TempPathFactory, worker: str
) -> TinyStudy:
    """The study that `make` runs in a folder: by one worker of the test run, for all."""
    own = folders.getbasetemp()
    folder = (own if worker == "master" else own.parent) / name
    with FileLock(f"{folder}.lock"):
        finished = folder.with_name(f"{name}.finished")
        if not finished.exists():
            make(folder)
            finished.touch()
    return TinyStudy.made_at(folder)
