"""Heat maps over layers and heads."""

import numpy as np
import pandas as pd

from workflow_scripts.core.plots import figures, heatmaps


def test_a_grid_is_the_mean_over_seeds() -> None:
    rows = [
        {"layer": layer, "head": head, "value": 10 * layer + head + seed}
        for layer in range(3)
        for head in range(4)
        for seed in (0, 1)
    ]
    grid = heatmaps.grid_of(pd.DataFrame(rows), "value")
    np.testing.assert_allclose(grid, 10 * np.arange(3)[:, None] + np.arange(4) + 0.5)


def test_layers_and_heads_are_counted_from_one() -> None:
    with figures.style():
        figure, panels = heatmaps.sheet(["one", "two"], ["a", "b", "c"], (6, 12))
        assert panels.shape == (2, 3)
        heatmaps.draw(panels[0, 0], np.zeros((6, 12)), 0, 1)
        figure.draw_without_rendering()
    labels = [text.get_text() for text in panels[0, 0].get_xticklabels()]
    assert labels[0] == "1" and labels[-1] == "12"
    assert [text.get_text() for text in panels[0, 0].get_yticklabels()][-1] == "6"
    assert panels[0, 1].get_title() == "b"
    assert panels[1, 0].get_ylabel().startswith("two")
