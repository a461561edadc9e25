"""Whether the same heads matter: effects compared across data sets, tasks and seeds (Michel 5)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.ablation.measures import seed_title, set_name, set_title
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects, resampling

KEYS = ["layer", "head"]


@dataclass(frozen=True)
class Pair:
    """Two sets of scores to compare (`kind`: datasets, seeds or tasks), named for people."""

    kind: str
    names: tuple[str, str]
    left: pd.DataFrame
    right: pd.DataFrame


def pairs_of(frame: pd.DataFrame) -> Iterator[Pair]:
    """All pairs within scores on main metrics.

    `datasets`: two development sets of one task; `seeds`: two seeds of one task; `tasks`: two
    tasks, means over seeds.
    """
    dev = frame[frame["split"] == "dev"]
    for task in present(frame):
        rows = frame[frame["task"] == task]
        means, splits = effects.over_seeds(rows), rows["split"].unique()
        for pair in _combined("datasets", means, "split", splits):
            left, right = pair.names
            yield replace(pair, names=(set_title(task, left), set_name(task, right)))
        rows = dev[dev["task"] == task]
        for pair in _combined("seeds", rows, "seed", sorted(rows["seed"].unique())):
            left, right = pair.names
            yield replace(pair, names=(seed_title(task, left), seed_title(task, right)))
    for pair in _combined("tasks", effects.over_seeds(dev), "task", present(frame)):
        left, right = pair.names
        yield replace(pair, names=(TASKS[left].title, TASKS[right].title))


def halves(gains: pd.DataFrame) -> list[dict[str, Any]]:
    """How well the heads' effects on two halves of one development set agree, means over seeds.

    A row per mode, task and development set: what the correlation between two sets can reach at
    about half of their size.
    """
    columns = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    rows = []
    for (mode, task, split), group in gains.groupby(["mode", "task", "split"], sort=False):
        labels = {"kind": "halves", "mode": mode, "one": set_title(task, split)}
        means = group[columns].mean().to_dict()
        rows.append(labels | {"other": "other half"} | means | {"n": group["choices"].iloc[0]})
    return rows


def _combined(kind: str, frame: pd.DataFrame, column: str, values: Iterable[Any]) -> Iterator[Pair]:
    """The rows of every two of the values of a column, named by the values."""
    for first, second in combinations(values, 2):
        left, right = frame[frame[column] == first], frame[frame[column] == second]
        yield Pair(kind, (first, second), left, right)


def main(
    scores: list[Path], gains: list[Path], points: Out, table: Out, bootstrap: int, seed: int
) -> None:
    """Write every head's two effects (`points`), and their correlations over heads with intervals.

    Intervals come from sampling heads with replacement; those of halves from dividing again.
    """
    frame = effects.on_main_metric(effects.read_scores(scores, "head"))
    points_of_pairs, rows = [], []
    for mode, scored in frame.groupby("mode", sort=False):
        for pair in pairs_of(scored):
            both = pair.left[[*KEYS, "effect"]].merge(pair.right[[*KEYS, "effect"]], on=KEYS)
            both = both.rename(columns={"effect_x": "x", "effect_y": "y"})
            labels = {"kind": pair.kind, "mode": mode, "one": pair.names[0], "other": pair.names[1]}
            points_of_pairs.append(both.assign(**labels))
            x, y = both["x"].to_numpy(), both["y"].to_numpy()
            rows.append(labels | resampling.correlations(x, y, bootstrap, seed))
    gained = tables.read_all(gains)
    rows += halves(effects.on_main_metric(gained[gained["unit"] == "head"]))
    empty = pd.DataFrame(columns=[*KEYS, "x", "y", "kind", "mode", "one", "other"])
    compared = pd.concat(points_of_pairs, ignore_index=True) if points_of_pairs else empty
    tables.write(compared, points)
    tables.write_csv(pd.DataFrame(rows), table)


if __name__ == "__main__":
    job.run(main, globals())
