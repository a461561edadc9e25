"""Michel et al. 2019, Figure 1a: how BLEU is distributed when each head is masked alone."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.translation.masked_heads import by_run, read_masked, setting

BINS = 20


def draw(frame: pd.DataFrame) -> Figure:
    """A histogram per run, its heads stacked by type; a line marks the unchanged translator."""
    runs = list(by_run(frame))
    width = figures.TWO_COLUMNS / min(3, max(2, len(runs)))
    titles = [f"{name}\n{setting(rows)}" for name, rows in runs]
    figure, panels = figures.panels(titles, width, 2.0)
    for axes, (_, rows) in zip(panels, runs, strict=True):
        edges = np.histogram_bin_edges(rows[["score", "baseline"]].to_numpy(), BINS)
        groups = [rows.loc[rows["type"] == kind, "score"] for kind in colours.ATTENTION]
        looks = list(colours.ATTENTION.values())
        axes.hist(
            groups, edges, stacked=True, label=[look.name for look in looks],
            color=[look.colour for look in looks], hatch=[look.hatch for look in looks],
            edgecolor=colours.WHITE, linewidth=0.3,
        )  # fmt: skip
        axes.axvline(
            rows["baseline"].mean(), color=colours.UNCHANGED, linewidth=2, label="unchanged"
        )
        axes.set_xlabel("BLEU without the head")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    panels[0].set_ylabel("Heads")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), columnspacing=1.2)
    return figure


def main(scores: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw BLEU on the test set with each head masked."""
    with figures.style():
        figures.save(draw(read_masked(scores)), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
