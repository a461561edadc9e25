"""Kovaleva et al. 2019, appendix A: the maps of all heads for one example of a task."""

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROOM = 6.5, 8.5  # inches for all maps on a page, across and down
GAP = 0.08  # between maps, as a share of a map
TOP = 0.25  # the weight from which on the colour is the darkest
LINES = 12  # of a text: 128 tokens have fewer
LETTERS = 16  # of a text, for each inch of the figure's width


def mosaic(patterns: np.ndarray) -> tuple[np.ndarray, int]:
    """All maps [layer, head, query, key] as one image with frames and gaps, and a map's pitch."""
    n_layers, n_heads, length, _ = patterns.shape
    pitch = length + max(1, round(GAP * length))
    image = np.full((n_layers * pitch, n_heads * pitch), np.nan)
    for layer in range(n_layers):
        for head in range(n_heads):
            top, left = layer * pitch, head * pitch
            image[top : top + length, left : left + length] = patterns[layer, head]
    return image, pitch


def draw_grid(axes: Axes, patterns: np.ndarray, title: str) -> AxesImage:
    """Every head's map, layer 1 at the bottom; darker for more attention."""
    n_layers, n_heads, length, _ = patterns.shape
    image, pitch = mosaic(patterns[::-1])
    shown = axes.imshow(image, cmap=colours.MORE, vmin=0, vmax=TOP, interpolation="nearest")
    middle = (length - 1) / 2
    axes.set_xticks([head * pitch + middle for head in range(n_heads)], range(1, n_heads + 1))
    middles = [layer * pitch + middle for layer in reversed(range(n_layers))]
    axes.set_yticks(middles, range(1, n_layers + 1))
    corners = [(x * pitch - 0.5, y * pitch - 0.5) for x in range(n_heads) for y in range(n_layers)]
    frames = [Rectangle(corner, length, length) for corner in corners]
    style = {"facecolor": "none", "edgecolor": colours.GREY, "linewidth": 0.3}
    axes.add_collection(PatchCollection(frames, **style))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="Head", ylabel="Layer", title=title)
    return shown


def arrangement(n_layers: int, n_heads: int) -> tuple[int, float]:
    """How many of the two grids stand side by side, and the inches for one map.

    They stand above each other where this makes the maps larger and still leaves room on a page.
    """
    across, down = ROOM
    choices = {
        columns: min(across / (columns * n_heads), down / (2 / columns * n_layers))
        for columns in (1, 2)
    }
    return max(choices.items(), key=lambda choice: choice[1])


def sentences(examples: Path, chosen: str, width: float) -> str:
    """The texts of the example, each from a new line, for a figure of `width` inches.

    Of a text at most LINES lines.
    """
    (texts,) = (example.texts for example in read_examples(examples) if example.id == chosen)
    letters = round(LETTERS * width)
    shorter = {"max_lines": LINES, "placeholder": " …"}
    lines = [line for text in texts for line in textwrap.wrap(text, letters, **shorter)]
    return "\n".join(lines)


def main(maps: Path, examples: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both grids: pretrained first, then fine-tuned. `examples` are the task's, with texts."""
    frame = tables.read(maps, ("layer", "head", "query", "key", "weight", "stage", "task"))
    n_layers, n_heads, length = (frame[name].max() + 1 for name in ("layer", "head", "query"))
    columns, cell = arrangement(n_layers, n_heads)
    with figures.style():
        width = min(figures.TWO_COLUMNS, cell * n_heads * columns + 1.0)
        task, example = TASKS[frame["task"].iloc[0]].title, frame["example"].iloc[0]
        texts = sentences(examples, example, width)
        height = (cell * n_layers + 0.45) * (2 // columns) + 0.4 + 0.13 * texts.count("\n")
        figure, axes = figures.new(width, height, columns=columns, rows=2 // columns)
        for panel, stage in zip(axes, frame["stage"].unique(), strict=True):
            shown = draw_grid(panel, _grid(frame[frame["stage"] == stage]), stage.capitalize())
        heatmaps.bar(shown, axes, "Attention weight", shrink=0.4, extend="max")
        figure.suptitle(f"{task}, example {example}, {length} tokens:\n{texts}", fontsize=7)
        figures.save(figure, svg, pdf, png)


def _grid(frame: pd.DataFrame) -> np.ndarray:
    """The weights as [layer, head, query, key]."""
    axes = ["layer", "head", "query", "key"]
    shape = tuple(frame[axis].max() + 1 for axis in axes)
    return frame.sort_values(axes)["weight"].to_numpy().reshape(shape)


if __name__ == "__main__":
    job.run(main, globals())
