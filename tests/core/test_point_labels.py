"""Names next to crowded points."""

import numpy as np
import pytest

from tests.core.figure_checks import clipped, overlapping
from workflow_scripts.core.plots import figures


@pytest.mark.parametrize("seed", range(3))
def test_every_name_is_nearest_to_its_own_point(seed: int) -> None:
    """Eight named points among sixty, two of them close together, as in Figure 6."""
    rng = np.random.default_rng(seed)
    points = rng.random((60, 2))
    points[1] = points[0] + [0.02, 0]
    names = [f"{number}-1 pobj, det" for number in range(8)]
    with figures.style():
        figure, [axes] = figures.new(3.5, 3.5)
        axes.plot(*points.T, "o")
        axes.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), xticks=[], yticks=[])
        figures.write_names(axes, points[:8], names, points)
        assert [text.get_text() for text in axes.texts] == names
        assert clipped(figure) == [] and overlapping(figure) == []
    centres = axes.transData.transform(points[:8])
    for number, text in enumerate(axes.texts):
        box = text.get_window_extent()
        nearest = np.linalg.norm(np.clip(centres, box.min, box.max) - centres, axis=1).argmin()
        assert nearest == number
