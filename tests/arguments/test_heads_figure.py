"""The maps of what disabling each head does: one scale, muted heads, a sentence for no effect."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from workflow_scripts.arguments import figures as arguments_figures
from workflow_scripts.core.plots import figures

FLIP = 100 / 16  # points of accuracy


def effects(measure: str, effect: float) -> pd.DataFrame:
    """Two layers of two heads, of which the last has an effect that is significant."""
    heads = pd.DataFrame({"layer": [0, 0, 1, 1], "head": [0, 1, 0, 1]})
    heads = heads.assign(effect=[0.0, -effect, 0.0, effect], p_corrected=[1, 0.6, 1, 0.01])
    return heads.assign(measure=measure, n=16, seeds=2)


@pytest.fixture
def axes() -> Axes:
    _, (axes,) = figures.new(2, 2)
    return axes


def test_one_flip_is_pale_and_margins_have_their_own_scale() -> None:
    assert arguments_figures.limit(effects("accuracy", FLIP)) == pytest.approx(5 * FLIP)
    both = pd.concat([effects("accuracy", 8 * FLIP), effects("follows", FLIP)])
    assert arguments_figures.limit(both) == pytest.approx(8 * FLIP)
    assert arguments_figures.limit(effects("margin", 0.01)) == pytest.approx(0.01)


def test_heads_without_a_significant_effect_are_muted(axes: Axes) -> None:
    image = arguments_figures.draw_heads(axes, effects("accuracy", FLIP), 5 * FLIP)
    opacity = image.get_alpha()
    assert opacity[1, 1] == 1
    assert (opacity.ravel()[:3] < 1).all()
    np.testing.assert_allclose(image.get_array(), [[0, -FLIP], [0, FLIP]])
    assert axes.get_xlabel() == "Head (n = 16, 2 seeds)"


def test_a_measure_that_no_head_changes_is_a_sentence(axes: Axes) -> None:
    assert arguments_figures.draw_heads(axes, effects("follows", 0.0), 5 * FLIP) is None
    assert [text.get_text() for text in axes.texts] == ["unchanged by any head\n(n = 16, 2 seeds)"]
    assert not axes.images
