"""A figure is saved in three formats, arranged once."""

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from workflow_scripts.core.plots import figures


def drawn() -> Figure:
    figure, axes = figures.panels(["a", "b", "c"], 2, 1.5)
    image = axes[0].imshow(np.eye(4))
    figure.colorbar(image, ax=axes)
    figure.supxlabel("Head")
    return figure


def test_a_figure_is_arranged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arranged, execute = [], ConstrainedLayoutEngine.execute

    def watched(engine: ConstrainedLayoutEngine, figure: Figure) -> None:
        arranged.append(figure)
        execute(engine, figure)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", watched)
    with figures.style():
        figure = drawn()
        figures.save(figure, *(tmp_path / kind for kind in ("svg", "pdf", "png")))
    assert arranged == [figure]


def test_the_picture_is_that_of_a_constrained_layout(tmp_path: Path) -> None:
    with figures.style():
        figures.save(drawn(), *(tmp_path / kind for kind in ("svg", "pdf", "png")))
        drawn().savefig(tmp_path / "plain.png", dpi=200)
    saved, plain = (matplotlib.image.imread(tmp_path / name) for name in ("png", "plain.png"))
    np.testing.assert_array_equal(saved, plain)


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with figures.style():
            figures.save(drawn(), *(tmp_path / f"{name}.{kind}" for kind in ("svg", "pdf", "png")))
    for kind in ("svg", "pdf", "png"):
        one, two = (tmp_path / f"{name}.{kind}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
