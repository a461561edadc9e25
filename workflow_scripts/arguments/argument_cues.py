"""Cues in the warrants: how often each tells the right one (Niven and Kao 2019, section 3).

A cue k is applicable to a point where it is in one warrant and not in the other. Of these alpha_k
points it is in the right warrant in a share pi_k, its productivity; its coverage xi_k is alpha_k
over the number of points.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from workflow_scripts.arguments.wording import Cue, forms, grams
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import VERSIONS, points_of, read_arct, splits_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)
LEVEL = 0.05


def count(
    frame: pd.DataFrame, sizes: Sequence[int], same: Mapping[str, str]
) -> tuple[Counter[Cue], Counter[Cue]]:
    """Of every cue, the points that it is applicable to, and those where it is in the right one."""
    applicable, productive = Counter(), Counter()
    for row in frame.itertuples():
        pair = [grams(forms(text, same), sizes) for text in (row.warrant0, row.warrant1)]
        for number, own in enumerate(pair):
            alone = own - pair[1 - number]
            applicable.update(alone)
            if row.label == number:
                productive.update(alone)
    return applicable, productive


def measure(
    frame: pd.DataFrame, sizes: Sequence[int], same: Mapping[str, str], least: float, cue: Cue
) -> pd.DataFrame:
    """One row per cue of at least `least` coverage, and `cue` in any case; the widest first.

    Columns: cue, applicable, productive, n (points), productivity, coverage,
    ci_low, ci_high (exact binomial), p (two-sided, against one half) and p_corrected. Intervals
    and p_corrected are corrected for the number of cues, `tested` (Bonferroni).
    """
    applicable, productive = count(frame, sizes, same)
    chosen = [one for one, n in applicable.items() if n >= least * len(frame) or one == cue]
    rows = [
        {
            "cue": " ".join(one),
            "applicable": applicable[one],
            "productive": productive[one],
        }
        for one in chosen
    ]
    found = pd.DataFrame(rows, columns=["cue", "applicable", "productive"])
    found["n"], found["tested"] = len(frame), len(found)
    found["productivity"] = found["productive"] / found["applicable"]
    found["coverage"] = found["applicable"] / found["n"]
    found["ci_low"], found["ci_high"] = interval(
        found["productive"], found["applicable"], LEVEL / max(1, len(found))
    )
    found["p"] = [
        stats.binomtest(int(k), int(n)).pvalue
        for k, n in zip(found["productive"], found["applicable"], strict=True)
    ]
    found["p_corrected"] = (found["p"] * len(found)).clip(upper=1)
    return found.sort_values(["applicable", "cue"], ascending=[False, True], ignore_index=True)


def interval(
    productive: Sequence[int], applicable: Sequence[int], level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the exact (Clopper-Pearson) intervals that miss the true share with odds `level`."""
    k, n = np.asarray(productive, float), np.asarray(applicable, float)
    low = np.where(k > 0, stats.beta.ppf(level / 2, k, n - k + 1), 0.0)
    high = np.where(k < n, stats.beta.ppf(1 - level / 2, k + 1, n - k), 1.0)
    return low, high


def main(
    table: Path,
    cues: Out,
    cue: str,
    sizes: list[int],
    same: dict[str, str],
    least: float,
) -> None:
    """Write the cues of every split and of all, in the original, negated and swapped sets.

    The sets negated and swapped hold the original points too (column `data`).
    """
    frame, found = read_arct(table), []
    word = tuple(cue.lower().split())
    for version in VERSIONS:
        versions = tuple(dict.fromkeys(["original", version]))
        known = frame[frame["version"] == version]["split"]
        splits = [split for split in splits_of(frame) if split in set(known)]
        parts = {split: points_of(frame, split, versions) for split in splits}
        if len(parts) > 1:
            parts["all"] = pd.concat(parts.values(), ignore_index=True)
        for split, part in parts.items():
            its = measure(part, sizes, same, least, word)
            found.append(its.assign(data=version, split=split))
            beyond = its[its["p_corrected"] < LEVEL]
            log.info("%s, %s: %d cues, %d beyond chance", version, split, len(its), len(beyond))
    tables.write(pd.concat(found, ignore_index=True), cues)


if __name__ == "__main__":
    job.run(main, globals())
