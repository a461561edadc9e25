"""Weights kept after each epoch, and how importance settles."""

from pathlib import Path

import numpy as np
import pytest

from workflow_scripts.core.model.epochs import agreements, epochs_of
from workflow_scripts.core.run.errors import InputError


def test_epochs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        (tmp_path / f"epoch-{number}").mkdir()
    last = tmp_path / "last"
    names = [path.name for path in epochs_of(tmp_path, last, "")]
    assert names == ["epoch-1", "epoch-2", "epoch-10", "last"]


def test_a_training_without_epochs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no epoch-\*; set every_epoch"):
        epochs_of(tmp_path, tmp_path, "set every_epoch")


def test_agreement_is_of_ranks() -> None:
    last = np.array([[1.0, 2], [3, 4]])
    by_epoch = {1: -last, 2: np.array([[2.0, 1], [3, 4]]), 3: np.exp(last), 4: last}
    # One exchange of neighbours among four: 1 - 6 * 2 / (4 * 15).
    assert agreements(by_epoch) == pytest.approx({1: -1, 2: 0.8, 3: 1, 4: 1})
