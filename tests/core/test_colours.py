"""Colours have one meaning, stand in one place and can be distinguished by all kinds of vision."""

import ast
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import is_color_like, to_rgb

from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.colours import Look

SCRIPTS = Path(colours.__file__).parents[2]
# Machado, Oliveira and Fernandes (2009), severity 1: what linear RGB looks like.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# sRGB to XYZ, over the white point D65.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
APART = 15  # CIE76 distance; the closest two of Okabe and Ito's hues are 16 apart
COLOUR_WORDS = ("color", "colour", "edge", "face", "ec", "fc", "c")


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    """CIELAB of a colour as it is seen."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = XYZ @ np.clip(vision @ linear, 0, 1) / WHITE
    fx, fy, fz = (np.cbrt(t) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def confused(looks: Mapping[str, Look]) -> list[tuple[str, str, str]]:
    """Pairs of things whose colours are closer than APART to some kind of vision."""
    return [
        (one, other, kind)
        for one, other in combinations(looks, 2)
        for kind, matrix in VISION.items()
        if np.linalg.norm(lab(looks[one].colour, matrix) - lab(looks[other].colour, matrix)) < APART
    ]


def test_lab_of_known_colours() -> None:
    np.testing.assert_allclose(lab("#FFFFFF", VISION["normal"]), [100, 0, 0], atol=0.05)
    np.testing.assert_allclose(lab("#FF0000", VISION["normal"]), [53.2, 80.1, 67.2], atol=0.2)


def test_red_and_green_are_confused() -> None:
    pair = {"red": Look("red", "#B03030"), "green": Look("green", "#5A6E2E")}
    assert {kind for _, _, kind in confused(pair)} & {"protanopia", "deuteranopia"}


@pytest.mark.parametrize("looks", colours.SHARING, ids=lambda looks: next(iter(looks)))
def test_what_shares_a_figure_can_be_distinguished(looks: Mapping[str, Look]) -> None:
    assert confused(looks) == []


@pytest.mark.parametrize("looks", colours.SHARING, ids=lambda looks: next(iter(looks)))
def test_markers_distinguish_points_in_grey(looks: Mapping[str, Look]) -> None:
    if looks is colours.CLASSES:
        return  # stacked, in one order, with white between them
    assert len({look.marker for look in looks.values()}) == len(looks)


def test_stages_are_distinguished_by_their_hatch() -> None:
    assert len({look.hatch for look in colours.STAGES.values()}) == len(colours.STAGES)


def test_things_in_an_order_grow_lighter_but_stay_visible() -> None:
    for n in (1, 2, 6, 24):
        lightness = [lab(look.colour, VISION["normal"])[0] for look in colours.in_order(n)]
        assert len(lightness) == n
        assert lightness == sorted(lightness)
        assert lightness[-1] < 85


def raw_colours(source: str) -> list[str]:
    """Colours that a script states itself: hexadecimal, greys, names, and names of maps."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("#") and is_color_like(node.value):
                found.append(node.value)
            if node.value in colormaps:
                found.append(node.value)
        if isinstance(node, ast.keyword):
            found += _stated(node.arg or "", node.value)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant):
                    found += _stated(str(key.value), value)
    return found


def _stated(name: str, value: ast.expr) -> list[str]:
    named = any(name == word or (len(word) > 2 and word in name) for word in COLOUR_WORDS)
    if not (named and isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return []
    return [value.value] if value.value != "none" and is_color_like(value.value) else []


def test_raw_colours_are_found() -> None:
    source = (
        'plot(x, color="0.5"); bar(ec="white", cmap="Blues"); f({"facecolor": "red"}, "#0072B2")'
    )
    assert sorted(raw_colours(source)) == ["#0072B2", "0.5", "Blues", "red", "white"]
    assert raw_colours('plot(x, color=colours.BLUE, marker="s", facecolor="none", name="k")') == []


def test_only_the_palette_states_colours() -> None:
    scripts = [path for path in SCRIPTS.rglob("*.py") if "core.plots" in path.read_text("utf-8")]
    assert len(scripts) > 30
    stated = {path.name: raw_colours(path.read_text("utf-8")) for path in scripts}
    assert {name: found for name, found in stated.items() if found} == {}
