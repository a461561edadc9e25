"""Michel et al. 2019, Figure 3: the score as more and more heads are pruned, by strategy."""

from pathlib import Path

import pandas as pd
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean

OVER_EXAMPLES = ["score_low", "score_high", "change", "change_low", "change_high", "n"]


def over_runs(rows: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Per number of pruned heads: mean score over runs, its 95% interval and the number of runs.

    A run is a seed, for random orders a seed and draw. `runs_low` and `runs_high` sample runs with
    replacement; OVER_EXAMPLES are means over runs of each one's interval over examples.
    """
    wide = rows.pivot_table(index=["seed", "draw"], columns="pruned", values="score")
    mean, low, high = bootstrap_mean(wide.to_numpy(), draws, seed, INDEPENDENT)
    columns = {"score": mean, "runs_low": low, "runs_high": high, "runs": len(wide)}
    frame = pd.DataFrame({"pruned": wide.columns} | columns)
    return frame.merge(rows.groupby("pruned", as_index=False)[OVER_EXAMPLES].mean(), on="pruned")


def _title(task: str, rows: pd.DataFrame) -> str:
    """A task with its metric, and how many examples and seeds are behind the curves."""
    n, seeds = rows["n"].max(), figures.counted(rows["seed"].nunique(), "seed")
    return f"{effects.title_of(task)}\nn = {n:.0f} examples, {seeds}"


def main(
    curves: list[Path], svg: Out, pdf: Out, png: Out, table: Out, bootstrap: int, seed: int
) -> None:
    """Draw a panel per task on its main metric, and write its lines.

    Importance is named as estimated once, before pruning, or again before each step.
    """
    columns = ("task", "seed", "strategy", "recomputed", "pruned", "heads", "metric", "score")
    columns += tuple(OVER_EXAMPLES)
    frame = effects.on_main_metric(tables.read_all(curves, columns))
    names, lines = present(frame), []
    with figures.style():
        figure, panels = figures.panels(
            [_title(name, frame[frame["task"] == name]) for name in names],
            figures.TWO_COLUMNS / 3,
            1.9,
            columns=3,
        )
        for axes, task in zip(panels, names, strict=True):
            rows = frame[frame["task"] == task]
            for strategy, look in colours.STRATEGIES.items():
                runs = rows[rows["strategy"] == strategy]
                if runs.empty:
                    continue
                line, recomputed = over_runs(runs, bootstrap, seed), runs["recomputed"].iloc[0]
                name = look.name
                if strategy == "importance":
                    name += ", estimated again each step" if recomputed else ", estimated once"
                share = 100 * line["pruned"] / runs["heads"].iloc[0]
                ends = 100 * line["score_low"], 100 * line["score_high"]
                figures.line(axes, share, 100 * line["score"], look, name, ends)
                labels = {"task": TASKS[task].title, "strategy": strategy}
                labels["recomputed"] = recomputed
                lines.append(line.assign(share=share, metric=TASKS[task].main_metric, **labels))
            axes.set_xlabel(f"Heads pruned, % of {rows['heads'].iloc[0]}")
            axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        panels[0].set_ylabel("Score, points")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)
    tables.write_csv(pd.concat(lines, ignore_index=True), table)


if __name__ == "__main__":
    job.run(main, globals())
