"""Figures hold users' texts as they are, and no settings but the workflow's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from tests.core.figure_checks import texts_of
from workflow_scripts.core.plots import figures

SCRIPTS = Path(figures.__file__).parents[2]
NAMES = ["cost $x^{ $", "$5", r"a\$b", r"\frac_{^", "<b>&amp;", "東京", "1$^2$"]
TURNED, CONTROL = "left\u202etfel\u2066", "bell\x07 \x1b[0m\ufffe\ud800"
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
