"""What a figure's SVG file states about its size in print."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

SVG = "{http://www.w3.org/2000/svg}"
SIZE = re.compile(r"font(?:-size)?:[^;]*?([\d.]+)px")
SCALE = re.compile(r"(?:scale|matrix)\((-?[\d.e-]+)")


def width_of(svg: Path) -> float:
    """The width of the figure, in inches."""
    return float(_root(svg).attrib["width"].removesuffix("pt")) / 72


def texts_of(svg: Path) -> list[tuple[str, float]]:
    """Every text and its size in print, in points (of a line with several sizes the smallest)."""
    found: list[tuple[str, float]] = []
    _walk(_root(svg), 1.0, found)
    return found


def clipped(figure: Figure) -> list[str]:
    """The texts that reach over the edge of the figure."""
    page = figure.bbox.padded(1)
    boxes = ((text.get_text(), text.get_window_extent()) for text in _shown(figure))
    return [
        words for words, box in boxes if not (page.contains(*box.min) and page.contains(*box.max))
    ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of level or upright texts that lie over each other."""
    level = [text for text in _shown(figure) if text.get_rotation() % 90 == 0]
    ends = [text.get_window_extent().padded(-1).extents for text in level]
    low, high = np.sort(np.array(ends).reshape(-1, 2, 2), axis=1).transpose(1, 2, 0)
    across, along = low[:, :, None] <= high[:, None, :]
    pairs = np.argwhere(np.triu(across & across.T & along & along.T, k=1))
    return [(level[one].get_text(), level[other].get_text()) for one, other in pairs]


def _shown(figure: Figure) -> list[Text]:
    """The texts that are drawn, as arranged."""
    if figure.stale:  # else it is arranged already
        figure.draw_without_rendering()
    hidden = {label for axes in figure.findobj(Axes) for label in _hidden(axes)}
    found = (text for text in figure.findobj(Text) if text.get_text().strip())
    return [text for text in found if text.get_visible() and text not in hidden]


def _hidden(axes: Axes) -> list[Text]:
    """The labels of ticks that are beyond the limits of their axis, or whose axes are off."""
    hidden: list[Text] = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not (axes.axison and low <= tick.get_loc() <= high):
                hidden += [tick.label1, tick.label2]
        if not axes.axison:
            hidden.append(axis.label)
    return hidden


def _root(svg: Path) -> ElementTree.Element:
    return ElementTree.parse(svg).getroot()  # noqa: S314 (a file of our own)


def _walk(node: ElementTree.Element, scale: float, found: list[tuple[str, float]]) -> None:
    scaled = SCALE.search(node.get("transform", ""))
    scale *= abs(float(scaled[1])) if scaled else 1.0
    if node.tag == f"{SVG}text":
        parts = [node, *node.iter(f"{SVG}tspan")]
        sizes = [float(size) for part in parts for size in SIZE.findall(part.get("style", ""))]
        words = " ".join("".join(node.itertext()).split())
        if words and not sizes:
            raise ValueError(f"a text without a size: {words}")
        if words:
            found.append((words, min(sizes) * scale))
        return
    for child in node:
        _walk(child, scale, found)


def too_small(svg: Path, points: float = 6.0) -> list[tuple[str, float]]:
    """The texts that are smaller than `points` in print."""
    return [(words, size) for words, size in texts_of(svg) if size < points - 1e-6]
