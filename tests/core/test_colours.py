"""Colours have one meaning, stand in one place and can be distinguished by all kinds of vision."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.colours import Look

# The groups whose entries share a figure.
SHARING: tuple[Mapping[str, Look], ...] = (
    colours.TOKENS,
    colours.HEADS,
    colours.CLASSES,
    colours.FAMILIES,
    colours.ATTENTION,
    colours.STRATEGIES,
    colours.VERDICTS,
    colours.CHANGES,
)
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


@pytest.mark.parametrize("looks", SHARING, ids=lambda looks: next(iter(looks)))
def test_what_shares_a_figure_can_be_distinguished(looks: Mapping[str, Look]) -> None:
    assert confused(looks) == []
