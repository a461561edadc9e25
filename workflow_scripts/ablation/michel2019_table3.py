"""Michel et al. 2019, Table 3: the best single head left in each layer, against the whole layer."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects


def best_left(left: pd.DataFrame, layers: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """One row per checkpoint, split, mode, metric and layer, in percent.

    `effect` is that of leaving the best head alone, with its p-values: `p` for this head alone,
    `p_corrected` for all heads of all layers, and `p_t` of a t-test as in the paper; `gain` is the
    honest gain, of the head chosen on one half and measured on the other; `without` is the effect
    of disabling the layer.
    """
    keys = ["task", "split", "seed", "mode", "metric", "layer"]
    best = left.loc[left.groupby(keys, sort=False)["effect"].idxmax()]
    gains = gains[gains["unit"] == "all-but-one"][[*keys, "gain", "gain_low", "gain_high"]]
    without = layers[[*keys, "effect"]].rename(columns={"effect": "without"})
    frame = best.merge(gains, on=keys).merge(without, on=keys, how="left")
    percent = ["baseline", "score", "effect", "ci_low", "ci_high"]
    percent += ["gain", "gain_low", "gain_high", "without"]
    frame = frame.assign(
        task=[TASKS[task].title for task in frame["task"]],
        layer=frame["layer"] + 1,
        head=labels(frame),
        **{name: 100 * frame[name] for name in percent},
    )
    return frame[[*keys, "head", *percent, "p", "p_corrected", "p_t", "n"]]


def main(scores: list[Path], gains: list[Path], table: Out) -> None:
    """Write the table."""
    left, layers = (effects.read_scores(scores, unit) for unit in ("all-but-one", "layer"))
    tables.write_csv(best_left(left, layers, tables.read_all(gains)), table)


if __name__ == "__main__":
    job.run(main, globals())
