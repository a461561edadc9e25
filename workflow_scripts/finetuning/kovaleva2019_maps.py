"""Kovaleva et al. 2019, appendix A: the maps of all heads for one example of a task."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

CELL = 0.62  # inches
GAP = 0.15  # between maps, as a share of a map


def mosaic(patterns: np.ndarray) -> tuple[np.ndarray, int]:
    """All maps [layer, head, query, key] as one image with frames and gaps, and a map's pitch."""
    n_layers, n_heads, length, _ = patterns.shape
    pitch = length + max(2, round(GAP * length))
    image = np.full((n_layers * pitch, n_heads * pitch), np.nan)
    for layer in range(n_layers):
        for head in range(n_heads):
            top, left = layer * pitch, head * pitch
            image[top : top + length, left : left + length] = patterns[layer, head]
    return image, pitch


def draw_grid(axes: Axes, patterns: np.ndarray, title: str) -> None:
    """Every head's map, layer 1 at the top; darker for more attention."""
    image, pitch = mosaic(patterns)
    n_layers, n_heads, length, _ = patterns.shape
    axes.imshow(image, cmap="Blues", vmin=0, vmax=1, interpolation="nearest", rasterized=True)
    middle = (length - 1) / 2
    axes.set_xticks([head * pitch + middle for head in range(n_heads)], range(1, n_heads + 1))
    axes.set_yticks([layer * pitch + middle for layer in range(n_layers)], range(1, n_layers + 1))
    corners = [(x * pitch - 0.5, y * pitch - 0.5) for x in range(n_heads) for y in range(n_layers)]
    frames = [Rectangle(corner, length, length) for corner in corners]
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor="0.5", linewidth=0.3))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("Head")
    axes.set_title(title)


def main(maps: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both grids beside each other: pretrained on the left, fine-tuned on the right."""
    frame = tables.read(maps, ("layer", "head", "query", "key", "weight", "stage", "task"))
    n_layers, n_heads, length = (frame[name].max() + 1 for name in ("layer", "head", "query"))
    with figures.style():
        width, height = 2 * n_heads * CELL + 0.8, n_layers * CELL + 0.9
        figure, axes = figures.new(width, height, columns=2)
        for panel, stage in zip(axes, frame["stage"].unique(), strict=True):
            draw_grid(panel, _grid(frame[frame["stage"] == stage]), stage.capitalize())
        axes[0].set_ylabel("Layer")
        task, example = TASKS[frame["task"].iloc[0]].title, frame["example"].iloc[0]
        figure.suptitle(f"{task}, example {example}, {length} tokens", fontsize=9)
        figures.save(figure, svg, pdf, png)


def _grid(frame: pd.DataFrame) -> np.ndarray:
    """The weights as [layer, head, query, key]."""
    axes = ["layer", "head", "query", "key"]
    shape = tuple(frame[axis].max() + 1 for axis in axes)
    return frame.sort_values(axes)["weight"].to_numpy().reshape(shape)


if __name__ == "__main__":
    job.run(main, globals())
