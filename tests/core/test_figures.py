"""Figures in three formats: layout, labels, users' texts, and settings of one's own."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.core.figure_checks import clipped, overlapping, texts_of
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job

SCRIPTS = Path(figures.__file__).parents[2]
NAMES = ["cost $x^{ $", "$5", r"a\$b", r"\frac_{^", "<b>&amp;", "東京", "1$^2$"]
HOSTILE = """
font.size: 20
font.family: serif
svg.fonttype: path
savefig.bbox: tight
savefig.facecolor: yellow
axes.facecolor: red
axes.formatter.use_locale: True
axes.grid: True
path.sketch: 1, 100, 2
pdf.compression: 0
text.parse_math: True
"""


def drawn(names: list[str]) -> Figure:
    """A figure with each name as its title, an axis' label, a tick, a key of the legend, a note."""
    figure, panels = figures.panels(names, 1.7, 2)
    for axes, name in zip(panels, names, strict=True):
        axes.plot([0, 1], [0, 1], label=name)
        axes.set(xlabel=name, ylabel="plain")
        axes.set_xticks([0, 1], [0, name])
        axes.annotate(name, (0, 1))
        axes.legend()
    figure.suptitle("\n".join(names))
    return figure


def save(folder: Path, names: list[str]) -> list[bytes]:
    paths = [folder / f"f.{kind}" for kind in ("svg", "pdf", "png")]
    with figures.style():
        figures.save(drawn(names), *paths)
    return [path.read_bytes() for path in paths]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    save(tmp_path, NAMES)
    texts = [text for text, _ in texts_of(tmp_path / "f.svg")]
    for name in NAMES:
        assert texts.count(name) == 6, name


def test_a_user_s_settings_change_no_figure(tmp_path: Path) -> None:
    """In a folder with a matplotlibrc, in another locale, and with -OO."""
    (tmp_path / "matplotlibrc").write_text(HOSTILE)
    code = f"from {__name__} import Path, save; save(Path(), ['a', '$b$'])"
    surroundings = {"PYTHONOPTIMIZE": "2", "LC_ALL": "C", "PYTHONPATH": str(SCRIPTS.parent)}
    environment = os.environ | surroundings
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    theirs = [(tmp_path / f"f.{kind}").read_bytes() for kind in ("svg", "pdf", "png")]
    assert theirs == save(tmp_path, ["a", "$b$"])


def panels() -> Figure:
    figure, axes = figures.panels(["a", "b", "c"], 2, 1.5)
    image = axes[0].imshow(np.eye(4))
    figure.colorbar(image, ax=axes)
    axes[1].plot([0, 1], label="line")
    figure.legend(loc="outside upper center")
    figure.supxlabel("Head")
    return figure


def test_the_picture_is_that_of_a_constrained_layout(tmp_path: Path) -> None:
    with figures.style():
        figures.save(panels(), *(tmp_path / kind for kind in ("svg", "pdf", "png")))
        panels().savefig(tmp_path / "plain.png", dpi=200)
    saved, plain = (matplotlib.image.imread(tmp_path / name) for name in ("png", "plain.png"))
    np.testing.assert_array_equal(saved, plain)


def test_one_panel_is_as_wide_as_its_legend(tmp_path: Path) -> None:
    with figures.style():
        figure, (axes,) = figures.panels(["one task"], 2.3, 2)
        for name in ("a legend that is much wider", "than a panel", "of one task"):
            axes.plot([0, 1], [0, 1], label=name)
        figure.legend(loc="outside upper center", ncols=3)
        figures.save(figure, *(tmp_path / kind for kind in ("svg", "pdf", "png")))
        assert figure.get_figwidth() < figures.TWO_COLUMNS
        assert not clipped(figure)


def test_the_label_of_the_model_stands_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the figure is drawn as without it."""
    pictures = []
    for label in ("", "m (4-bit, instruct)"):
        monkeypatch.setattr(job, "label", label)
        with figures.style():
            figures.save(panels(), *(tmp_path / f"figure.{kind}" for kind in ("svg", "pdf", "png")))
        pictures.append(matplotlib.image.imread(tmp_path / "figure.png"))
        assert (label in (tmp_path / "figure.svg").read_text(encoding="utf-8")) or not label
    without, labelled = pictures
    above = labelled.shape[0] - without.shape[0]
    assert 0 < above < 50
    assert np.array_equal(labelled[above:], without)
    assert labelled[:above].min() < 0.5


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


def test_a_value_outside_its_interval_is_not_drawn() -> None:
    axes, look = Figure().subplots(), colours.Look("", colours.BLACK)
    values = pd.Series([0.5, 0.3])
    figures.intervals(axes, "x", values, (values - 0.1, values - 1e-12), [0, 1], look)
    with pytest.raises(ValueError, match="negative"):
        figures.intervals(axes, "x", values, (values - 0.2, values - 0.1), [0, 1], look)


def test_heads_are_ranked_coloured_and_named() -> None:
    effects = [0.4, -3.0, 0.0, -2.9, -1.5, 2.0]
    heads = pd.DataFrame({"layer": 0, "head": range(6), "effect": effects})
    heads["p_corrected"] = [0.3, 0.01, 1.0, 0.01, 0.01, 0.04]
    heads = heads.assign(ci_low=heads["effect"] - 0.1, ci_high=heads["effect"] + 0.1)
    with figures.style():
        figure, panels = figures.panels(["one"], 2.3, 2.0)
        figures.ranked(figure, [(panels[0], heads)], "effect", 0.05)
    shown = {line.get_color(): line.get_xydata().tolist() for line in panels[0].lines}
    losses = [[1, -3.0], [2, -2.9], [3, -1.5]]
    unclear = [[4, 0.0], [5, 0.4]]
    assert shown == {colours.HARM: losses, colours.PALE: unclear, colours.BENEFIT: [[6, 2.0]]}
    assert {text.get_text() for text in panels[0].texts} == {"1-2, 1-4", "1-5", "1-6"}
    assert overlapping(figure) == clipped(figure) == []
