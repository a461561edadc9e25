"""Tidy tables and their intervals, where values are missing."""

import numpy as np

from workflow_scripts.core.data import tables


def test_a_head_without_a_value_has_none() -> None:
    values = np.full((4, 1, 2), np.nan)
    mean, low, high = tables.bootstrap_mean(values, 100, 1)
    assert np.isnan([mean, low, high]).all()
    frame = tables.per_head({"negation": values}, "kind", "attention", 100, 1)
    assert frame["n"].tolist() == [0, 0]
    values[1, 0, 0] = 0.5
    frame = tables.per_head({"negation": values}, "kind", "attention", 100, 1)
    assert frame["attention"].tolist()[0] == 0.5
    assert np.isnan(frame["attention"].tolist()[1])
