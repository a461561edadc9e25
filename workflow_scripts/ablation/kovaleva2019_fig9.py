"""Kovaleva et al. 2019, Figure 9: the score with one layer disabled, for every layer and task."""

from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(scores: list[Path], mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per layer, the mean over seeds, with the paired interval of the effect."""
    scored = effects.main_rows(effects.read_scores(scores, "layer"), mode)
    frame, names = effects.over_seeds(scored), present(scored)
    with figures.style():
        titles = figures.task_titles(scored, names, effects.title_of)
        height = 0.95 + min(0.12 * frame["layer"].nunique(), 1.8)
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, max(1.5, height))
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name].sort_values("layer")
            effect = 100 * rows["effect"].to_numpy()
            ends = np.abs(100 * np.stack([rows["ci_low"], rows["ci_high"]]) - effect)
            axes.axvline(0, color=colours.UNCHANGED, linewidth=2, label="unchanged model", zorder=1)
            axes.errorbar(
                effect, rows["layer"] + 1, xerr=ends, fmt="o", color=colours.NEUTRAL,
                elinewidth=0.8, capsize=1.5, label="one layer disabled", zorder=2,
            )  # fmt: skip
            axes.yaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
            axes.set(xlabel="Change of the score, points", ylim=(0.4, rows["layer"].max() + 1.6))
        panels[0].set_ylabel("Layer")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
