"""Heat maps over layers and heads, as Kovaleva et al. draw them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, MaxNLocator

from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures

CELL = 0.12  # inches at most
FADED = 0.5  # opacity of a head's colour where it is muted
HATCHED = {"facecolor": "none", "edgecolor": colours.SILVER, "hatch": "//////", "linewidth": 0}
MARGIN, BETWEEN = 1.15, 0.2  # inches for labels and colour bar, and between maps


def grid_of(frame: pd.DataFrame, values: str) -> np.ndarray:
    """The mean of column `values` for each head, [layer, head]."""
    return frame.pivot_table(index="layer", columns="head", values=values).to_numpy()


def grids(frame: pd.DataFrame, by: str | list[str], values: str) -> dict[Any, np.ndarray]:
    """`grid_of` the rows of each value of a column, or of several."""
    return {name: grid_of(rows, values) for name, rows in frame.groupby(by)}


def draw(
    axes: Axes, values: np.ndarray, low: float, high: float, shades: str = colours.MORE
) -> AxesImage:
    """One map [layer, head], layer 1 at the bottom as in the papers; both axes count from 1.

    Heads without a value are hatched.
    """
    image = axes.imshow(
        values, origin="lower", cmap=shades, vmin=low, vmax=high, aspect="equal", rasterized=True
    )
    for axis, n in ((axes.yaxis, values.shape[0]), (axes.xaxis, values.shape[1])):
        places, numbers = ticks(n)
        axis.set_major_locator(FixedLocator(places))
        axis.set_ticklabels(numbers)
    axes.tick_params(length=1.5, labelsize=figures.SMALL)
    if np.isnan(values).any():
        axes.patch.set(hatch="////", edgecolor=colours.PALE, facecolor=colours.WHITE)
    for spine in axes.spines.values():
        spine.set_visible(True)
    return image


def ticks(n: int) -> tuple[list[int], list[str]]:
    """Where an axis of `n` layers or heads has ticks, and their numbers, which count from 1."""
    some = sorted({0, n - 1, *range(n // 2 - 1, n, max(1, n // 2))})
    places = some if n > 4 else list(range(n))
    return places, [str(place + 1) for place in places]


def around_zero(axes: Axes, values: np.ndarray, least: float = 1e-3) -> AxesImage:
    """A map of changes: red above 0, blue below, on a scale to the largest size of either."""
    known = np.abs(values[np.isfinite(values)])
    limit = max(known.max(initial=0.0), least)
    return draw(axes, values, -limit, limit, colours.AROUND_ZERO)


def sheet(
    rows: Sequence[str],
    columns: Sequence[str],
    shape: tuple[int, int],
    between: float = BETWEEN,
) -> tuple[Figure, np.ndarray]:
    """A figure with one panel per row and column, titled, for maps of `shape`; axes [row, column].

    The maps are as large as a page of two columns has room for, up to CELL inches a head, with
    `between` inches between them. The caller adds colour bars, see `bar`.
    """
    n_layers, n_heads = shape
    room = figures.TWO_COLUMNS - MARGIN - between * len(columns)
    cell = min(CELL, room / (len(columns) * n_heads))
    width = MARGIN + len(columns) * (between + cell * n_heads)
    height = 0.8 + len(rows) * (BETWEEN + max(cell * n_layers, 0.5))
    figure, flat = figures.new(width, height, columns=len(columns), rows=len(rows))
    panels = np.array(flat, dtype=object).reshape(len(rows), len(columns))
    for axes in flat:
        axes.label_outer()
    for number, title in enumerate(columns):
        panels[0, number].set_title(title)
    for number, title in enumerate(rows):
        panels[number, 0].set_ylabel(f"{title}\nLayer" if title else "Layer")
    for axes in panels[-1]:
        axes.set_xlabel("Head")
    return figure, panels


def task_sheet(frame: pd.DataFrame, rows: Sequence[str]) -> tuple[Figure, np.ndarray, list[str]]:
    """A `sheet` with a column for each task of a table of heads, and the tasks."""
    names = present_tasks(frame)
    shape = (frame["layer"].max() + 1, frame["head"].max() + 1)
    return *sheet(rows, [TASKS[name].title for name in names], shape), names


def of_tasks(
    rows: dict[str, pd.DataFrame], values: str, label: str, units: str = "examples of each task"
) -> Figure:
    """Maps of a column `values`, darker for more: a row by title for each table of heads.

    Each row has a scale of its own from 0, named `label`, and a map for each task, the mean over
    seeds. The last line counts the tables' n `units`.
    """
    every = pd.concat(rows.values())
    figure, panels, names = task_sheet(every, list(rows))
    for cells, frame in zip(panels, rows.values(), strict=True):
        of_task = grids(frame, "task", values)
        top = max(grid.max() for grid in of_task.values())
        for axes, name in zip(cells, names, strict=True):
            image = draw(axes, of_task[name], 0.0, top)
        bar(image, cells, label)
    figure.supxlabel(figures.sample(every, units), fontsize=7)
    return figure


def bar(
    image: AxesImage,
    panels: Sequence[Axes],
    label: str,
    shrink: float = 1,
    extend: str = "neither",
) -> None:
    """A named colour bar for panels that share a scale; next to one alone, as high as its map.

    Next to several it has the share `shrink` of their height.
    `extend` is "max" where the scale ends below the largest value.
    """
    figure = panels[0].figure
    if len(panels) == 1:
        room = panels[0].inset_axes((1.04, 0, 0.05, 1))
        shown = figure.colorbar(image, cax=room, label=label, extend=extend)
    else:
        rows = len({axes.get_subplotspec().rowspan.start for axes in panels})
        shape = {"pad": 0.02, "aspect": 12 * rows, "shrink": shrink, "extend": extend}
        shown = figure.colorbar(image, ax=list(panels), label=label, **shape)
    shown.ax.tick_params(labelsize=figures.SMALL)
    shown.ax.yaxis.label.set_size(7)
    shown.locator = MaxNLocator(5 if extend == "max" else 4)
    shown.update_ticks()


def mute(axes: Axes, image: AxesImage, muted: np.ndarray) -> None:
    """Fade and hatch the heads of a map that `muted` [layer, head] names, such as no effect."""
    image.set_alpha(np.where(muted, FADED, 1.0))
    cells = [Rectangle((head - 0.5, layer - 0.5), 1, 1) for layer, head in np.argwhere(muted)]
    if cells:
        paths = [cell.get_patch_transform().transform_path(cell.get_path()) for cell in cells]
        axes.add_patch(_hatched(PathPatch(Path.make_compound_path(*paths), **HATCHED)))


def muted_key(words: str) -> Patch:
    """The entry of a legend for what `mute` hatches."""
    return _hatched(Patch(label=words, **HATCHED))


def _hatched(patch: Patch) -> Patch:
    patch.set_hatch_linewidth(0.4)
    return patch


def dots(axes: Axes, heads: pd.DataFrame) -> None:
    """A black dot on each of `heads` (columns layer and head), for what exceeds chance."""
    axes.plot(heads["head"], heads["layer"], "o", color=colours.BLACK, markersize=1.6)


def note(axes: Axes, words: str) -> None:
    """Words across a map that has no values."""
    box = {"facecolor": colours.WHITE, "edgecolor": "none", "pad": 1.5}
    centred = {"transform": axes.transAxes, "ha": "center", "va": "center"}
    axes.text(0.5, 0.5, words, size=7, bbox=box, **centred)
