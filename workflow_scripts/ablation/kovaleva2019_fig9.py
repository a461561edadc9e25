"""Kovaleva et al. 2019, Figure 9: the score with one layer disabled, for every layer and task."""

from pathlib import Path

import numpy as np
from matplotlib import colormaps

from workflow_scripts.core.data.glue import present
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def main(scores: list[Path], mode: str, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a bar per layer, the mean over seeds, with the paired interval of the effect."""
    frame = effects.over_seeds(effects.main_rows(effects.read_scores(scores, "layer"), mode))
    names = present(frame)
    with figures.style():
        figure, panels = figures.panels([effects.title_of(name) for name in names], 1.75, 1.5)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name].sort_values("layer")
            score, baseline = rows["score"].to_numpy(), rows["baseline"].mean()
            ends = np.abs(np.stack([rows["ci_low"], rows["ci_high"]]) - rows["effect"].to_numpy())
            spread = max(np.ptp(np.append(score, baseline)), 1e-9)
            shade = 0.35 + 0.6 * (score - min(score.min(), baseline)) / spread
            axes.barh(
                rows["layer"] + 1, score, xerr=ends, color=colormaps[heatmaps.DARK](shade),
                error_kw={"linewidth": 0.8, "ecolor": "#444444"},
            )  # fmt: skip
            axes.axvline(baseline, color=figures.BASELINE, linewidth=2)
            axes.set_xlim(left=min(0.0, *(score - ends[0])))
            axes.set_yticks(rows["layer"] + 1)
            axes.set_ylabel("Layer")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
