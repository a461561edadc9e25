"""What the figures of typical maps and of classes show."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.patterns.annotated_maps import CLASSES
from workflow_scripts.patterns.figures import kovaleva2019_fig1, kovaleva2019_fig2


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


def test_each_class_has_its_share_before_and_after(tmp_path: Path) -> None:
    before, after = (0.5, 0.1, 0.2, 0.15, 0.05), (0.4, 0.1, 0.2, 0.1, 0.2)
    rows = [
        {"task": "sst2", "stage": stage, "class": of, "share": share, "seed": 1, "n": 20}
        for stage, shares in (("pretrained", before), ("fine-tuned", after))
        for of, share in zip(CLASSES, shares, strict=True)
    ]
    frame = pd.DataFrame(rows).assign(method="network", annotated_model="m")
    tables.write(frame, tmp_path / "shares")
    (axes,) = kovaleva2019_fig2.__wrapped__(tmp_path / "shares", "m").axes
    shown = {line.get_label(): line.get_xdata() for line in axes.lines}
    np.testing.assert_allclose(shown["pretrained"], 100 * np.array(before))
    np.testing.assert_allclose(shown["fine-tuned"], 100 * np.array(after))
