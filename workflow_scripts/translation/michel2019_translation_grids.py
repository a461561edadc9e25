"""Michel et al. 2019, Table 1, as a figure: BLEU with one head masked, by type of attention."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.model.sublayers import TYPES
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation.masked_heads import by_run, read_masked, setting

LEVEL = 0.05  # of p-values, corrected for all heads of a run
MAP = 1.9  # inches of a map's side at most
PAGE = 8.0  # inches for all lines of maps


def draw(frame: pd.DataFrame) -> Figure:
    """A line of maps for each run, one map for each type; all on one scale."""
    runs = list(by_run(frame))
    n_layers, n_heads = frame["layer"].max() + 1, frame["head"].max() + 1
    height = np.clip(MAP * n_layers / n_heads, 1.1, min(MAP, PAGE / len(runs)))
    figure, flat = figures.new(
        figures.TWO_COLUMNS, 0.6 + (height + 0.15) * len(runs), columns=len(TYPES), rows=len(runs)
    )
    panels = np.array(flat, dtype=object).reshape(len(runs), len(TYPES))
    limit = max(frame["effect"].abs().max(), 0.01)
    for line, (name, rows) in zip(panels, runs, strict=True):
        for axes, kind in zip(line, TYPES, strict=True):
            heads = rows[rows["type"] == kind]
            grid = heatmaps.grid_of(heads, "effect")
            image = heatmaps.draw(axes, grid, -limit, limit, colours.AROUND_ZERO)
            heatmaps.mute(axes, image, heatmaps.grid_of(heads, "p_corrected") >= LEVEL)
        about = setting(rows).replace(", ", "\n")
        line[0].set_ylabel(f"{name}\n{about}\nLayer", fontsize=7)
    for axes, title in zip(panels[0], TYPES.values(), strict=True):
        axes.set_title(title)
    for axes in panels[-1]:
        axes.set_xlabel("Head")
    heatmaps.bar(image, flat, "Change of BLEU")
    words = f"not significant: p ≥ {LEVEL}, corrected for the {len(rows)} heads of a seed"
    figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
    return figure


def main(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw the change of BLEU on the test set, muted where it is not significant."""
    with figures.style():
        figures.save(draw(read_masked(scores)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
