"""Each head's behaviour, from other chapters, and the effect of disabling it (Kovaleva 5)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.ablation.ablation_modes import covariance_of, interval_of_mean, verdict
from workflow_scripts.chapters import collect
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import KINDS, head_labels, rows_of_kind
from workflow_scripts.core.data.tasks import present_tasks
from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import effects
from workflow_scripts.core.stats.randomisation import LEVEL

FEWEST_HEADS = 5  # of a kind, for an interval that resamples its heads


def compare(
    heads: pd.DataFrame, covariances: dict[str, np.ndarray], bound: float, draws: int, seed: int
) -> pd.DataFrame:
    """One row per task and stratum, then `all`: the mean effect of its heads and of all others.

    A head of several kinds is in the stratum of each. ci_low and ci_high draw the stratum's heads
    with replacement, `low` and `high` are the ends of the 90% interval over examples; `p` is the
    share of `draws` random sets of as many heads whose mean is as far from that of all heads.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for task, covariance in covariances.items():
        values = heads[f"effect_{task}"].to_numpy()
        for name in (*KINDS, "all"):
            inside = rows_of_kind(heads, name) | (name == "all")
            if not inside.any():
                continue
            n, distance = int(inside.sum()), abs(values[inside].mean() - values.mean())
            low = high = np.nan
            if n >= FEWEST_HEADS:
                weights = stats_bootstrap.bootstrap_weights(n, draws, seed)
                low, high = np.percentile(weights @ values[inside] / n, stats_bootstrap.CONFIDENCE)
            random = np.stack([rng.permutation(values)[:n].mean() for _ in range(draws)])
            p = (1 + (np.abs(random - values.mean()) >= distance - 1e-12).sum()) / (1 + draws)
            row = {"task": task, "stratum": name, "heads": n, "effect": values[inside].mean()}
            row |= {"ci_low": low, "ci_high": high, "p": p}
            row["others"] = values[~inside].mean() if n < len(values) else np.nan
            ends = interval_of_mean(values, covariance, inside)
            row |= dict(zip(("low", "high"), ends, strict=True))
            row |= {"bound": bound, "verdict": verdict(*ends, bound)}
            rows.append(row)
    return pd.DataFrame(rows)


def judge(
    heads: pd.DataFrame, scores: pd.DataFrame, covariances: dict[str, np.ndarray], bound: float
) -> pd.DataFrame:
    """Columns for every task: p_corrected, low, high and verdict of each head's effect.

    p_corrected is the largest of all seeds; the 90% interval is not corrected for many heads.
    """
    columns = {}
    for task, covariance in covariances.items():
        p = scores[scores["task"] == task].groupby(KEYS)["p_corrected"].max().to_numpy()
        values = heads[f"effect_{task}"].to_numpy()
        alone = np.eye(len(values), dtype=bool)
        ends = [interval_of_mean(values, covariance, head) for head in alone]
        columns[f"p_corrected_{task}"] = p
        columns[f"low_{task}"], columns[f"high_{task}"] = zip(*ends, strict=True)
        significant = (p < LEVEL).tolist()
        judged = zip(ends, significant, strict=True)
        columns[f"verdict_{task}"] = [verdict(*end, bound, beyond) for end, beyond in judged]
    return pd.DataFrame(columns, index=heads.index)


def main(
    scores: list[Path],
    covariances: list[Path],
    kinds: Path,
    heads: job.Out,
    strata: job.Out,
    equivalence: float,
    fewest: int,
    bootstrap: int,
    seed: int,
    known: list[Path] = (),
) -> None:
    """Write the joined table, a row per head, and the comparison of strata.

    `known` are the tables of the chapters that have columns for the joined table. `equivalence` is
    the bound in points; relations with fewer words than `fewest` do not count.
    """
    frame = effects.main_rows(effects.read_scores(scores, "head"), "uniform")
    tasks = present_tasks(frame)
    joined = frame.pivot_table(index=KEYS, columns="task", values="effect")
    joined = joined[tasks].add_prefix("effect_").reset_index()
    joined["effect"] = joined[[f"effect_{task}" for task in tasks]].mean(axis=1)
    errors, bound = {}, equivalence / 100
    for task in tasks:
        n = int(frame[frame["task"] == task]["n"].min())
        errors[task] = covariance_of(covariances, "uniform", task, n)
    joined = joined.join(judge(joined, frame, errors, bound))
    found = TableSet(known)
    for chapter in collect("measures").values():
        if not hasattr(chapter, "columns"):
            continue
        if (columns := chapter.columns(found, {"fewest": fewest})) is not None:
            joined = joined.merge(columns, on=KEYS, how="left")
    joined = joined.merge(tables.read(kinds), on=KEYS)
    joined.insert(0, "name", head_labels(joined))
    tables.write_csv(joined, heads)
    tables.write_csv(compare(joined, errors, bound, bootstrap, seed), strata)


if __name__ == "__main__":
    job.run(main, globals())
