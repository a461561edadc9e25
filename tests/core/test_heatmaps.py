"""Heat maps over layers and heads."""

import numpy as np

from workflow_scripts.core.plots import figures, heatmaps


def test_layers_and_heads_are_counted_from_one() -> None:
    with figures.style():
        figure, panels = heatmaps.sheet(["one", "two"], ["a", "b", "c"], (6, 12))
        assert panels.shape == (2, 3)
        for axes in panels.ravel():
            heatmaps.draw(axes, np.zeros((6, 12)), 0, 1)
        figure.draw_without_rendering()
    labels = [text.get_text() for text in panels[1, 0].get_xticklabels()]
    assert labels[0] == "1" and labels[-1] == "12"
    assert [text.get_text() for text in panels[1, 0].get_yticklabels()][-1] == "6"
    assert not panels[0, 1].get_xticklabels() and not panels[0, 1].get_yticklabels()
    assert panels[0, 1].get_title() == "b"
    assert panels[1, 0].get_ylabel().startswith("two")


def test_muted_heads_are_faded_and_hatched() -> None:
    _, (axes,) = figures.new(2, 2)
    image = heatmaps.around_zero(axes, np.array([[-2.0, 1.0], [0.3, 0.5]]))
    heatmaps.mute(axes, image, np.array([[False, True], [False, False]]))
    np.testing.assert_allclose(image.get_alpha(), [[1, 0.5], [1, 1]])
    (hatched,) = axes.patches
    box = hatched.get_path().get_extents()
    assert (box.x0, box.x1, box.y0, box.y1) == (0.5, 1.5, -0.5, 0.5)  # layer 1, head 2
    assert hatched.get_hatch() == heatmaps.muted_key("none").get_hatch()
    _, (axes,) = figures.new(2, 2)
    heatmaps.mute(axes, heatmaps.around_zero(axes, np.ones((2, 2))), np.zeros((2, 2), bool))
    assert not axes.patches
