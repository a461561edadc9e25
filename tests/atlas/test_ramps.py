"""The page's colours are those of the figures."""

import re

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_rgb

from tests.web.expected import NAMED
from workflow_scripts.atlas.atlas_page import PAGE
from workflow_scripts.core.plots import colours

TEXT = (PAGE / "lib" / "ramps.js").read_text(encoding="utf-8")
STEP = 1 / 255


def points(name: str) -> np.ndarray:
    """A list of colours of ramps.js, [colour, channel], 0 to 1."""
    match = re.search(rf"export const {name} = \[([^\]]*)\]", TEXT)
    assert match, name
    return np.array([to_rgb(code) for code in re.findall(r'"(#\w{6})"', match[1])])


@pytest.mark.parametrize(
    ("name", "theirs", "steps"),
    [
        ("BLUES", colours.MORE, 0),
        ("RED_BLUE", colours.AROUND_ZERO, 0),
        ("BERLIN", "berlin", 2),  # it has no points of its own
    ],
)
def test_a_ramp_is_matplotlibs(name: str, theirs: str, steps: int) -> None:
    ours, share = points(name), np.linspace(0, 1, 256)
    drawn = np.stack(
        [np.interp(share, np.linspace(0, 1, len(ours)), channel) for channel in ours.T], axis=1
    )
    assert np.abs(drawn - colormaps[theirs](share)[:, :3]).max() < (steps + 0.5) * STEP


def test_things_without_a_meaning_have_the_house_colours() -> None:
    named = [getattr(colours, name) for name in "BLUE VERMILLION GREEN PURPLE ORANGE SKY".split()]
    assert points("CATEGORIES") == pytest.approx(
        np.array([to_rgb(colour) for colour in [*named, colours.BLACK]])
    )


def test_kinds_with_names_have_the_colours_of_the_figures() -> None:
    match = re.search(r"export const NAMED = \{(.*?)\};", TEXT, re.S)
    assert match
    found = re.findall(r'(?:"([^"]+)"|(\w+)): "(#\w{6})"', match[1])
    assert {quoted or plain: colour for quoted, plain, colour in found} == NAMED
