"""What a figure's SVG file says about its size in print."""

import re
from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
SIZE = re.compile(r"font(?:-size)?:[^;]*?([\d.]+)px")
SCALE = re.compile(r"(?:scale|matrix)\((-?[\d.e-]+)")


def width_of(svg: Path) -> float:
    """The width of the figure, in inches."""
    return float(_root(svg).attrib["width"].removesuffix("pt")) / 72


def height_of(svg: Path) -> float:
    """The height of the figure, in inches."""
    return float(_root(svg).attrib["height"].removesuffix("pt")) / 72


def texts_of(svg: Path) -> list[tuple[str, float]]:
    """Every text and its size in print, in points (of a line with several sizes the smallest)."""
    found: list[tuple[str, float]] = []
    _walk(_root(svg), 1.0, found)
    return found


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
