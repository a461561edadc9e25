"""Michel et al. 2019, Figure 3: the score as more and more heads are pruned, by strategy."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from workflow_scripts.core import effects, figures, job, tables
from workflow_scripts.core.job import Out
from workflow_scripts.core.tasks import TASKS, present

NAMES = {"importance": "importance", "ablation": "one-head score", "random": "random"}


def over_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Per number of pruned heads: mean score, with Student's 95% interval over runs, and n.

    A run is a seed, for random orders a seed and draw; one run has no interval (NaN).
    """
    grouped = rows.groupby("pruned")["score"]
    frame = grouped.agg(["mean", "std", "count"]).reset_index()
    half = stats.t.ppf(0.975, np.maximum(frame["count"] - 1, 1)) * frame["std"]
    half = half / np.sqrt(frame["count"])
    return frame.assign(low=frame["mean"] - half, high=frame["mean"] + half)


def main(curves: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw a panel per task on its main metric, and write what is drawn."""
    frame = tables.read_all(curves, ("task", "init", "strategy", "pruned", "heads", "score"))
    frame = frame[frame["init"] == "pretrained"]
    names, drawn = present(frame), []
    with figures.style():
        figure, panels = figures.panels([effects.title_of(name) for name in names], 1.75, 1.5)
        for axes, task in zip(panels, names, strict=True):
            rows = frame[(frame["task"] == task) & (frame["metric"] == TASKS[task].main_metric)]
            for number, (strategy, name) in enumerate(NAMES.items()):
                its = rows[rows["strategy"] == strategy]
                if its.empty:
                    continue
                line = over_runs(its)
                share = 100 * line["pruned"] / its["heads"].iloc[0]
                look = {"color": figures.COLOURS[number], "marker": figures.MARKERS[number]}
                axes.plot(share, line["mean"], markersize=2.5, label=name, **look)
                colour = figures.COLOURS[number]
                axes.fill_between(share, line["low"], line["high"], color=colour, alpha=0.2, lw=0)
                about = {"task": TASKS[task].title, "strategy": strategy}
                drawn.append(line.assign(share=share, metric=TASKS[task].main_metric, **about))
            axes.set_xlabel("Heads pruned, %")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)
    tables.write_csv(pd.concat(drawn, ignore_index=True), table)


if __name__ == "__main__":
    job.run(main, globals())
