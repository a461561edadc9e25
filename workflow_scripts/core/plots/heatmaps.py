"""Heat maps over layers and heads, as Kovaleva et al. draw them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedLocator

from workflow_scripts.core.plots import figures

DARK = "Blues"  # darker means more
AROUND_ZERO = "RdBu_r"
CELL = 0.105  # inches


def grid_of(frame: pd.DataFrame, values: str) -> np.ndarray:
    """The mean of column `values` for each head, [layer, head]."""
    return frame.pivot_table(index="layer", columns="head", values=values).to_numpy()


def draw(axes: Axes, values: np.ndarray, low: float, high: float, colours: str = DARK) -> AxesImage:
    """One map [layer, head], layer 1 at the bottom as in the papers; both axes count from 1."""
    image = axes.imshow(
        values, origin="lower", cmap=colours, vmin=low, vmax=high, aspect="equal", rasterized=True
    )
    for axis, n in ((axes.yaxis, values.shape[0]), (axes.xaxis, values.shape[1])):
        ticks = sorted({0, n - 1, *range(n // 2 - 1, n, max(1, n // 2))} & set(range(n)))
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_ticklabels([str(tick + 1) for tick in ticks])
    axes.tick_params(length=1.5, labelsize=6)
    for spine in axes.spines.values():
        spine.set_visible(True)
    return image


def sheet(
    rows: Sequence[str], columns: Sequence[str], shape: tuple[int, int]
) -> tuple[Figure, np.ndarray]:
    """A figure with one panel per row and column, titled, for maps of `shape`; axes [row, column].

    The maps share one colour bar, which the caller adds.
    """
    n_layers, n_heads = shape
    width = 1.1 + len(columns) * (0.3 + CELL * n_heads)
    height = 0.55 + len(rows) * (0.32 + CELL * n_layers)
    figure, flat = figures.new(width, height, columns=len(columns), rows=len(rows))
    panels = np.array(flat, dtype=object).reshape(len(rows), len(columns))
    for number, title in enumerate(columns):
        panels[0, number].set_title(title)
    for number, title in enumerate(rows):
        panels[number, 0].set_ylabel(f"{title}\nLayer" if title else "Layer")
    for axes in panels[-1]:
        axes.set_xlabel("Head")
    return figure, panels
