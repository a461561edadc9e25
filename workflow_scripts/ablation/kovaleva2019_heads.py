"""Do the linguistic heads matter (Kovaleva et al. 2019, section 5)? Effects by what heads do."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.ablation.head_behaviour import STRATA
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(heads: Path, strata: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task: a point per head over its stratum, its mean with an interval."""
    frame, means = pd.read_csv(heads), pd.read_csv(strata)
    names = list(dict.fromkeys(means["task"]))
    shown = [name for name in STRATA if (frame["stratum"] == name).any()]
    counts = frame["stratum"].value_counts()
    with figures.style():
        titles = [effects.title_of(name) for name in names]
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.9)
        rng = np.random.default_rng(0)  # of the jitter that keeps points from hiding each other
        for axes, task in zip(panels, names, strict=True):
            axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
            for column, name in enumerate(shown):
                values = 100 * frame[frame["stratum"] == name][f"effect_{task}"].to_numpy()
                x = column + rng.uniform(-0.22, 0.22, len(values))
                look = colours.HEADS[name]
                axes.plot(
                    x, values, "o", color=look.colour, markeredgecolor=colours.GREY,
                    markeredgewidth=0.3, zorder=2,
                )  # fmt: skip
                row = means[(means["task"] == task) & (means["stratum"] == name)].iloc[0]
                ends = [[row["effect"] - row["ci_low"]], [row["ci_high"] - row["effect"]]]
                axes.errorbar(
                    column, 100 * row["effect"], 100 * np.array(ends), fmt=look.marker,
                    color=colours.BLACK, markersize=4, capsize=2, zorder=3,
                )  # fmt: skip
            ticks = [f"{name} ({counts[name]})" for name in shown]
            axes.set_xticks(range(len(shown)), ticks, rotation=35, ha="right")
        panels[0].set_ylabel("Change, points")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
