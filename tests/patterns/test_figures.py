"""What the figure of typical maps shows."""

import numpy as np
import pandas as pd

from workflow_scripts.core.plots import figures
from workflow_scripts.patterns import figures as patterns_figures
from workflow_scripts.patterns.annotated_maps import CLASSES


def test_typical_maps_have_absolute_weights_on_one_scale() -> None:
    rows = [
        {"class": of, "place": 0, "stage": "pretrained", "layer": 0, "head": number}
        | {"query": query, "key": key, "weight": weight}
        for number, of in enumerate(CLASSES)
        for query in (0, 1)
        for key, weight in ((0, 0.1 * number), (1, 0.2))
    ]
    with figures.style():
        figure = patterns_figures.draw_maps(pd.DataFrame(rows))
    maps = [axes for axes in figure.axes if axes.images]
    for number, axes in enumerate(maps):
        (image,) = axes.images
        np.testing.assert_allclose(image.get_array(), [[0.1 * number, 0.2]] * 2)
        assert image.get_clim() == (0, 0.5)
    assert len(maps) == len(CLASSES)
    assert [axes.get_ylabel() for axes in figure.axes if axes not in maps] == ["Attention weight"]
