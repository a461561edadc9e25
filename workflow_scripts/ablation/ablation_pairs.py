"""Whether the same heads matter: effects compared across data sets, tasks and seeds (Michel 5)."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects, resampling

KEYS = ["layer", "head"]
NAMES = {"dev": "matched", "dev_mismatched": "mismatched"}


def pairs_of(frame: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame, pd.DataFrame]]:
    """What is compared, the two sides' names, and their rows, of scores on main metrics.

    `datasets`: two development sets of one task; `seeds`: two seeds of one task; `tasks`: two
    tasks, means over seeds.
    """
    dev = frame[frame["split"] == "dev"]
    for task in present(frame):
        title, rows = TASKS[task].title, frame[frame["task"] == task]
        splits = effects.over_seeds(rows)
        for one, other in combinations(rows["split"].unique(), 2):
            sides = (splits[splits["split"] == split] for split in (one, other))
            yield "datasets", f"{title} {NAMES[one]}", NAMES[other], *sides
        its = dev[dev["task"] == task]
        for one, other in combinations(sorted(its["seed"].unique()), 2):
            sides = (its[its["seed"] == seed] for seed in (one, other))
            yield "seeds", f"{title} seed {one}", f"{title} seed {other}", *sides
    means = effects.over_seeds(dev)
    for one, other in combinations(present(frame), 2):
        sides = (means[means["task"] == task] for task in (one, other))
        yield "tasks", TASKS[one].title, TASKS[other].title, *sides


def main(scores: list[Path], points: Out, table: Out, bootstrap: int, seed: int) -> None:
    """Write every head's two effects (`points`), and their correlations over heads with intervals.

    Intervals come from drawing heads with replacement.
    """
    frame = effects.on_main_metric(effects.read_scores(scores, "head"))
    drawn, rows = [], []
    for mode, its in frame.groupby("mode", sort=False):
        for kind, one, other, left, right in pairs_of(its):
            both = left[[*KEYS, "effect"]].merge(right[[*KEYS, "effect"]], on=KEYS)
            about = {"kind": kind, "mode": mode, "one": one, "other": other}
            drawn.append(both.rename(columns={"effect_x": "x", "effect_y": "y"}).assign(**about))
            x, y = both["effect_x"].to_numpy(), both["effect_y"].to_numpy()
            rows.append(about | resampling.correlations(x, y, bootstrap, seed))
    empty = pd.DataFrame(columns=[*KEYS, "x", "y", "kind", "mode", "one", "other"])
    tables.write(pd.concat(drawn, ignore_index=True) if drawn else empty, points)
    columns = ["kind", "mode", "one", "other", "pearson", "spearman", "n"]
    tables.write_csv(pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns), table)


if __name__ == "__main__":
    job.run(main, globals())
