"""Michel et al. 2019, Tables 1 and 3 and section 5: heads masked, left alone, and compared."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.ablation.measures import seed_title, set_name, set_title
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label, head_labels
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import effects

KEYS = ["layer", "head"]
# Levels of p-values, and the ends of the names of the counts of heads below them.
LEVELS = {"p": ("", 0.05), "p_corrected": ("_corrected", 0.05), "p_t": ("_t", 0.01)}
PERCENT = ("baseline", "score", "effect", "ci_low", "ci_high")


def one_head(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, mode, metric and head, in percent, the largest drop first."""
    rows = scores.sort_values(["task", "split", "mode", "metric", "seed", "effect"], kind="stable")
    columns = ["task", "split", "seed", "mode", "metric", "head", *PERCENT, *LEVELS]
    columns += ["p_corrected_error", "n"]
    return _in_percent(rows.assign(head=head_labels(rows)), PERCENT)[columns]


def summary(scores: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, unit, mode and metric: the variants with an effect, and gains.

    `worse` and `better` count variants by LEVELS, `*_t` as the paper does; `mean_effect` is that of
    a random variant. All but the counts in percent.
    """
    keys = ["task", "split", "seed", "unit", "mode", "metric"]
    rows = []
    for values, group in scores.groupby(keys, sort=False):
        best = group.loc[group["effect"].idxmax()]
        row = dict(zip(keys, values, strict=True)) | {"baseline": 100 * group["baseline"].iloc[0]}
        row |= {"variants": len(group), "mean_effect": 100 * group["effect"].mean()}
        for name, side in (("worse", group["effect"] < 0), ("better", group["effect"] > 0)):
            for p, (suffix, level) in LEVELS.items():
                known = group[p].notna().all()
                row[name + suffix] = (side & (group[p] < level)).sum() if known else pd.NA
        head = best["head"]
        row["best"] = head_label(best["layer"], head) if head >= 0 else f"layer {best['layer'] + 1}"
        rows.append(row | {"n": group["n"].iloc[0]})
    gains = gains[gains["layer"] == -1][[*keys, "naive", "gain", "gain_low", "gain_high"]]
    return _in_percent(pd.DataFrame(rows).merge(gains, on=keys), gains.columns[len(keys) :])


def least_found(found: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, unit, mode and metric: the smallest loss found, in percent."""
    columns = ["task", "split", "seed", "unit", "mode", "metric", "variants", "changed", "critical"]
    return _in_percent(found, ("changed", "loss"))[[*columns, "loss", "n"]]


def _title(task: str) -> str:
    return TASKS[task].title


def _in_percent(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The table with some columns in percent, and tasks by their titles."""
    percent = {name: 100 * frame[name] for name in names}
    return frame.assign(task=frame["task"].map(_title), **percent)


def best_left(left: pd.DataFrame, layers: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, mode, metric and layer, in percent.

    `effect` is that of leaving the best head alone, `p_corrected` is for all heads of all layers;
    `gain` is that of the head chosen on one half and measured on the other; `without` is the effect
    of disabling the layer.
    """
    keys = ["task", "split", "seed", "mode", "metric", "layer"]
    best = left.loc[left.groupby(keys, sort=False)["effect"].idxmax()]
    gains = gains[gains["unit"] == "all-but-one"][[*keys, "gain", "gain_low", "gain_high"]]
    without = layers[[*keys, "effect"]].rename(columns={"effect": "without"})
    frame = best.merge(gains, on=keys).merge(without, on=keys, how="left")
    percent = [*PERCENT, "gain", "gain_low", "gain_high", "without"]
    frame = frame.assign(layer=frame["layer"] + 1, head=head_labels(frame))
    return _in_percent(frame, percent)[[*keys, "head", *percent, "p", "p_corrected", "p_t", "n"]]


def pairs_of(frame: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """All pairs within scores on main metrics: how people name one, and every head's effects.

    `datasets`: two development sets of one task; `seeds`: two seeds of one task; `tasks`: two
    tasks, means over seeds.
    """
    dev = frame[frame["split"] == "dev"]
    for task in present_tasks(frame):
        rows = frame[frame["task"] == task]
        named = partial(set_title, task), partial(set_name, task)
        means, splits = effects.over_seeds(rows), rows["split"].unique()
        yield from _combined("datasets", means, "split", splits, *named)
        rows, named = dev[dev["task"] == task], partial(seed_title, task)
        yield from _combined("seeds", rows, "seed", sorted(rows["seed"].unique()), named, named)
    means, tasks = effects.over_seeds(dev), present_tasks(frame)
    yield from _combined("tasks", means, "task", tasks, _title, _title)


def halves(gains: pd.DataFrame) -> list[dict[str, Any]]:
    """How well the heads' effects on two halves of one development set agree, means over seeds."""
    columns = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    rows = []
    for (mode, task, split), group in gains.groupby(["mode", "task", "split"], sort=False):
        about = {"kind": "halves", "mode": mode, "one": set_title(task, split)}
        means = group[columns].mean().to_dict()
        rows.append(about | {"other": "other half"} | means | {"n": group["choices"].iloc[0]})
    return rows


def _combined(
    kind: str,
    frame: pd.DataFrame,
    column: str,
    values: Iterable[Any],
    name: Callable[[Any], str],
    other_name: Callable[[Any], str],
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The effects, `x` and `y`, of every two of the values of a column."""
    for one, other in combinations(values, 2):
        left, right = (frame[frame[column] == each][[*KEYS, "effect"]] for each in (one, other))
        both = left.merge(right, on=KEYS).rename(columns={"effect_x": "x", "effect_y": "y"})
        yield {"kind": kind, "one": name(one), "other": other_name(other)}, both


def compared(
    heads: pd.DataFrame, bootstrap: int, seed: int
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Every head's two effects in each of `pairs_of`, and their correlations over heads."""
    points = [pd.DataFrame(columns=[*KEYS, "x", "y", "kind", "mode", "one", "other"])]
    rows = []
    for mode, scored in effects.on_main_metric(heads).groupby("mode", sort=False):
        for names, both in pairs_of(scored):
            about = {"kind": names["kind"], "mode": mode} | names
            points.append(both.assign(**about))
            x, y = both["x"].to_numpy(), both["y"].to_numpy()
            rows.append(about | stats_bootstrap.correlations(x, y, bootstrap, seed))
    return pd.concat(points[1:] or points, ignore_index=True), rows


def main(
    scores: list[Path],
    gains: list[Path],
    found: list[Path],
    table: job.Out,
    best: job.Out,
    power: job.Out,
    alone: job.Out,
    pairs: job.Out,
    points: job.Out,
    bootstrap: int,
    seed: int,
) -> None:
    """Write Table 1 with what the best choice gains and what would be found, Table 3, and pairs."""
    units = ("head", "layer", "all-but-one")
    heads, layers, left = (effects.read_scores(scores, unit) for unit in units)
    gained = tables.read_all(gains)
    tables.write_csv(one_head(heads), table)
    tables.write_csv(summary(pd.concat([heads, layers]), gained), best)
    tables.write_csv(least_found(tables.read_all(found)), power)
    tables.write_csv(best_left(left, layers, gained), alone)
    effects_of_pairs, rows = compared(heads, bootstrap, seed)
    rows += halves(effects.on_main_metric(gained[gained["unit"] == "head"]))
    tables.write(effects_of_pairs, points)
    tables.write_csv(pd.DataFrame(rows), pairs)


if __name__ == "__main__":
    job.run(main, globals())
