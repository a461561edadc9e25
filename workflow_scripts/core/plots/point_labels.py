"""Names of points in a crowded panel, each at a free place near its own point."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from workflow_scripts.core.plots import colours, figures

# Places to try: distances from the point, in points of print, and directions, in degrees.
DISTANCES, DIRECTIONS = (7, 13, 19, 26, 34, 42), (0, 180, 45, 135, 315, 225, 90, 270)
LEADER = 10  # a label that is farther from its point is joined to it by a line
MARKER = 3.5  # half the width of a point's marker, in points


def write(
    axes: Axes, points: Sequence[tuple[float, float]], names: Sequence[str], obstacles: np.ndarray
) -> None:
    """Write each name at the nearest place where it covers nothing and is closest to its own point.

    `points` and `obstacles` [point, 2] are in data coordinates. The figure is arranged first, so
    that everything else must be in it already. A name without a free place stands where it covers
    the least.
    """
    axes.figure.draw_without_rendering()
    scale = axes.figure.dpi / 72
    pixels = axes.transData.transform(np.asarray(obstacles, dtype=float))
    taken = [Bbox.from_extents(*(xy - MARKER * scale), *(xy + MARKER * scale)) for xy in pixels]
    centres = axes.transData.transform(np.reshape(points, (-1, 2)).astype(float))
    for name, point, centre in zip(names, points, centres, strict=True):
        text = axes.annotate(
            name, point, (0, 0), textcoords="offset points", size=figures.SMALL, zorder=4
        )
        size = text.get_window_extent().size
        others = [other for other in centres if (other != centre).any()]
        places = []
        for distance in DISTANCES:
            for direction in DIRECTIONS:
                box, offset = _place(centre, size, distance, direction, scale)
                inside = axes.figure.bbox.contains(*box.min) and axes.bbox.contains(*box.min)
                inside = inside and axes.figure.bbox.contains(*box.max)
                covered = sum(box.overlaps(other) for other in taken) + 100 * (not inside)
                # A name that could be another point's is worse than one over an unnamed point.
                covered += 3 * sum(
                    _apart(box, other) < 1.5 * _apart(box, centre) for other in others
                )
                places.append((covered, distance, box, offset))
        _, distance, box, offset = min(places, key=lambda place: place[:2])
        text.set_position(offset)
        taken.append(box)
        if distance > LEADER:
            _lead(axes, centre, box)


def _place(
    centre: np.ndarray, size: np.ndarray, distance: float, direction: float, scale: float
) -> tuple[Bbox, tuple[float, float]]:
    """A name's box in pixels, and the offset in points of its lower left corner."""
    angle = np.deg2rad(direction)
    step = np.round([np.cos(angle), np.sin(angle)], 9)
    # The nearest point of the box to the marker, not its middle, has this distance.
    corner = step * distance * scale + (np.sign(step) - 1) / 2 * size
    return Bbox.from_bounds(*(centre + corner), *size), tuple(corner / scale)


def _apart(box: Bbox, xy: np.ndarray) -> float:
    """The distance of a point from the nearest place of a box, in pixels."""
    return float(np.linalg.norm(np.clip(xy, box.min, box.max) - xy))


def _lead(axes: Axes, centre: np.ndarray, box: Bbox) -> None:
    """A line from a point to the nearest place of its name's box."""
    end = np.clip(centre, box.min, box.max)
    x, y = axes.transData.inverted().transform([centre, end]).T
    axes.plot(x, y, color=colours.GREY, linewidth=0.5, zorder=1.5, label="_leader")
