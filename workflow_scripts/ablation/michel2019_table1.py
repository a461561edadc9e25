"""Michel et al. 2019, Table 1: what masking one head changes, and what the best choice gains."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.head_labels import label, labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects

# Levels of p-values, and the ends of the names of the counts of heads below them.
LEVELS = {"p": ("", 0.05), "p_corrected": ("_corrected", 0.05), "p_t": ("_t", 0.01)}
PERCENT = ("baseline", "score", "effect", "ci_low", "ci_high")


def one_head(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, mode, metric and head, in percent, the largest drop first."""
    rows = scores.sort_values(["task", "split", "mode", "metric", "seed", "effect"], kind="stable")
    columns = ["task", "split", "seed", "mode", "metric", "head", *PERCENT, *LEVELS, "n"]
    rows = rows.assign(head=labels(rows), task=rows["task"].map(_title))[columns]
    return rows.assign(**{name: 100 * rows[name] for name in PERCENT})


def summary(scores: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, unit, mode and metric: the variants with an effect, and gains.

    `worse` and `better` count the variants with p below 0.05, `*_corrected` those whose p-value,
    corrected for the number of variants, is below it, `*_t` those whose t-test has p below 0.01, as
    the paper counts (accuracy alone); `mean_effect` is that of a random variant. All but the counts
    in percent.
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
        row["best"] = label(best["layer"], head) if head >= 0 else f"layer {best['layer'] + 1}"
        rows.append(row | {"n": group["n"].iloc[0]})
    gains = gains[gains["layer"] == -1][[*keys, "naive", "gain", "gain_low", "gain_high"]]
    frame = pd.DataFrame(rows).merge(gains, on=keys)
    names = ["naive", "gain", "gain_low", "gain_high"]
    return frame.assign(
        task=frame["task"].map(_title), **{name: 100 * frame[name] for name in names}
    )


def least_found(found: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, unit, mode and metric: the smallest loss that is found.

    `loss` and `changed` in percent.
    """
    columns = ["task", "split", "seed", "unit", "mode", "metric", "variants", "changed", "critical"]
    percent = {name: 100 * found[name] for name in ("changed", "loss")}
    return found.assign(task=found["task"].map(_title), **percent)[[*columns, "loss", "n"]]


def _title(task: str) -> str:
    return TASKS[task].title


def main(
    scores: list[Path], gains: list[Path], found: list[Path], table: Out, best: Out, power: Out
) -> None:
    """Write the one-head table, the summary over heads and layers, and what would be found."""
    heads, layers = (effects.read_scores(scores, unit) for unit in ("head", "layer"))
    tables.write_csv(one_head(heads), table)
    tables.write_csv(summary(pd.concat([heads, layers]), tables.read_all(gains)), best)
    tables.write_csv(least_found(tables.read_all(found)), power)


if __name__ == "__main__":
    job.run(main, globals())
