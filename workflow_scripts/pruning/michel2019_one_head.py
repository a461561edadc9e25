"""One head left in every layer, all others pruned at once (`--one-head` of Michel et al. 2019)."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean

# The strategies, and which head of each layer they keep.
KEPT = {"one-head": "most important", "one-head-random": "random"}
OVER_EXAMPLES = ["score_low", "score_high", "change", "change_low", "change_high", "n"]
PERCENT = ["score", "score_low", "score_high", "change", "change_low", "change_high"]


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


def one_head_table(curves: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per task and choice of the heads that stay, on the main metric, in percent.

    `unpruned` is the score with all heads, `majority` that of the most frequent class; `runs` are
    seeds, for random heads seeds and draws.
    """
    rows = []
    for task in present_tasks(curves):
        for strategy, kept in KEPT.items():
            runs = curves[(curves["task"] == task) & (curves["strategy"] == strategy)]
            before, after = over_runs(runs, draws, seed).to_dict("records")
            row = {"task": TASKS[task].title, "metric": TASKS[task].main_metric, "kept": kept}
            row |= {"heads_left": runs["heads"].iloc[0] - after["pruned"]}
            row |= {"unpruned": 100 * before["score"], "majority": 100 * runs["majority"].mean()}
            row |= {name: 100 * after[name] for name in PERCENT}
            rows.append(row | {name: after[name] for name in ("runs", "n")})
    return pd.DataFrame(rows)


def main(curves: list[Path], table: job.Out, bootstrap: int, seed: int) -> None:
    """Write the table."""
    columns = ("task", "strategy", "majority", "pruned", "heads", "metric", "score")
    frame = tables.read_all(curves, columns + tuple(OVER_EXAMPLES))
    tables.write_csv(one_head_table(effects.on_main_metric(frame), bootstrap, seed), table)


if __name__ == "__main__":
    job.run(main, globals())
