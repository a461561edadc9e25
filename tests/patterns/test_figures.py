"""What the figure of typical maps shows."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.patterns.annotated_maps import CLASSES
from workflow_scripts.patterns.figures import kovaleva2019_fig1


def test_typical_maps_have_absolute_weights_on_one_scale(tmp_path: Path) -> None:
    rows = [
        {"class": of, "place": 0, "stage": "pretrained", "layer": 0, "head": number}
        | {"query": query, "key": key, "weight": weight}
        for number, of in enumerate(CLASSES)
        for query in (0, 1)
        for key, weight in ((0, 0.1 * number), (1, 0.2))
    ]
    tables.write(pd.DataFrame(rows), tmp_path / "maps")
    figure = kovaleva2019_fig1.__wrapped__(tmp_path / "maps")
    maps = [axes for axes in figure.axes if axes.images]
    for number, axes in enumerate(maps):
        (image,) = axes.images
        np.testing.assert_allclose(image.get_array(), [[0.1 * number, 0.2]] * 2)
        assert image.get_clim() == (0, 0.5)
    assert len(maps) == len(CLASSES)
    assert [axes.get_ylabel() for axes in figure.axes if axes not in maps] == ["Attention weight"]
