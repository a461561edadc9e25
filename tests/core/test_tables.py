"""Tidy tables of arrays."""

import numpy as np

from workflow_scripts.core.data import tables


def test_tidy_names_every_cell() -> None:
    cells = np.arange(6).reshape(2, 3)
    frame = tables.tidy({"row": ["a", "b"], "column": range(3)}, cell=cells, n=[7, 8, 9], text="x")
    assert list(frame.columns) == ["row", "column", "cell", "n", "text"]
    assert frame.iloc[4].tolist() == ["b", 1, 4, 8, "x"]
    assert len(frame) == 6
