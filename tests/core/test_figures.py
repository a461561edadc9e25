"""A figure is saved in three formats, arranged once."""

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job


def drawn() -> Figure:
    figure, axes = figures.panels(["a", "b", "c"], 2, 1.5)
    image = axes[0].imshow(np.eye(4))
    figure.colorbar(image, ax=axes)
    axes[1].plot([0, 1], label="line")
    figure.legend(loc="outside upper center")
    figure.supxlabel("Head")
    return figure


def test_the_picture_is_that_of_a_constrained_layout(tmp_path: Path) -> None:
    with figures.style():
        figures.save(drawn(), *(tmp_path / kind for kind in ("svg", "pdf", "png")))
        drawn().savefig(tmp_path / "plain.png", dpi=200)
    saved, plain = (matplotlib.image.imread(tmp_path / name) for name in ("png", "plain.png"))
    np.testing.assert_array_equal(saved, plain)


def test_the_label_of_the_model_stands_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the figure is drawn as without it."""
    pictures = []
    for label in ("", "m (4-bit, instruct)"):
        monkeypatch.setattr(job, "label", label)
        with figures.style():
            figures.save(drawn(), *(tmp_path / f"figure.{kind}" for kind in ("svg", "pdf", "png")))
        pictures.append(matplotlib.image.imread(tmp_path / "figure.png"))
        assert (label in (tmp_path / "figure.svg").read_text(encoding="utf-8")) or not label
    without, labelled = pictures
    above = labelled.shape[0] - without.shape[0]
    assert 0 < above < 50
    assert np.array_equal(labelled[above:], without)
    assert labelled[:above].min() < 0.5
