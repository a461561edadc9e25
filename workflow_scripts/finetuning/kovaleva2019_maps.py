"""Kovaleva et al. 2019, appendix A: the maps of all heads for one example of a task."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core import figures, job, tables
from workflow_scripts.core.job import Out
from workflow_scripts.core.tasks import TASKS

PANEL = 0.62  # inches


def draw_map(axes: Axes, pattern: np.ndarray) -> None:
    """One map [query, key], darker for more attention, without ticks."""
    axes.imshow(pattern, cmap="Blues", vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.3)


def main(maps: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both grids beside each other: pretrained on the left, fine-tuned on the right."""
    frame = tables.read(maps, ("layer", "head", "query", "key", "weight", "stage", "task"))
    n_layers, n_heads, length = (frame[name].max() + 1 for name in ("layer", "head", "query"))
    stages = list(frame["stage"].unique())
    grids = {stage: _grid(frame[frame["stage"] == stage]) for stage in stages}
    with figures.style():
        width, height = 2 * n_heads * PANEL + 0.8, n_layers * PANEL + 0.8
        figure, axes = figures.new(width, height, columns=2 * n_heads + 1, rows=n_layers)
        panels = np.array(axes, dtype=object).reshape(n_layers, 2 * n_heads + 1)
        for layer in range(n_layers):
            panels[layer, n_heads].axis("off")
            panels[layer, 0].set_ylabel(f"Layer {layer + 1}")
            for head in range(n_heads):
                for side, stage in enumerate(stages):
                    place = panels[layer, head + side * (n_heads + 1)]
                    draw_map(place, grids[stage][layer, head])
                    if layer == 0:
                        place.set_title(str(head + 1), fontsize=7)
        task, example = TASKS[frame["task"].iloc[0]].title, frame["example"].iloc[0]
        figure.suptitle(
            f"{task}, example {example} ({length} tokens): heads of the pretrained model (left) "
            "and after fine-tuning (right)"
        )
        figures.save(figure, svg, pdf, png)


def _grid(frame: pd.DataFrame) -> np.ndarray:
    """The weights as [layer, head, query, key]."""
    axes = ["layer", "head", "query", "key"]
    shape = tuple(frame[axis].max() + 1 for axis in axes)
    return frame.sort_values(axes)["weight"].to_numpy().reshape(shape)


if __name__ == "__main__":
    job.run(main, globals())
