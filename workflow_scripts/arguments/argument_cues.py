"""Cues in the warrants: how often each marks the right one (Niven and Kao 2019, section 4).

A cue k is applicable to a point where one warrant alone contains it. Productivity pi_k is the share
of these alpha_k points in which that warrant is the right one; coverage xi_k is alpha_k over the
number of points.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use, a second later, where cues are counted

from workflow_scripts.arguments.wording import Cue, forms, grams
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_VERSIONS, points_of, splits_of
from workflow_scripts.core.run import job

LEVEL = 0.05


def count(
    points: pd.DataFrame, sizes: Sequence[int], same: Mapping[str, str]
) -> tuple[Counter[Cue], Counter[Cue]]:
    """Of every cue, the points with it in one warrant alone, and those where this one is right."""
    applicable, productive = Counter(), Counter()
    for row in points.itertuples():
        pair = [grams(forms(text, same), sizes) for text in (row.warrant0, row.warrant1)]
        for number, own in enumerate(pair):
            alone = own - pair[1 - number]
            applicable.update(alone)
            if row.label == number:
                productive.update(alone)
    return applicable, productive


def measure(
    points: pd.DataFrame,
    sizes: Sequence[int],
    same: Mapping[str, str],
    min_coverage: float,
    study_cue: Cue,
) -> pd.DataFrame:
    """One row per cue of at least this coverage, and the study's own; the largest coverage first.

    Intervals are exact, p two-sided against one half; intervals and p_corrected are corrected for
    the number of cues, `tested` (Bonferroni).
    """
    applicable, productive = count(points, sizes, same)
    rows = [
        {"cue": " ".join(cue), "applicable": n, "productive": productive[cue]}
        for cue, n in applicable.items()
        if n >= min_coverage * len(points) or cue == study_cue
    ]
    cues = pd.DataFrame(rows, columns=["cue", "applicable", "productive"])
    cues["n"], cues["tested"] = len(points), len(cues)
    cues["productivity"] = cues["productive"] / cues["applicable"]
    cues["coverage"] = cues["applicable"] / cues["n"]
    cues["ci_low"], cues["ci_high"] = interval(
        cues["productive"], cues["applicable"], LEVEL / max(1, len(cues))
    )
    cues["p"] = [
        scipy.stats.binomtest(int(k), int(n)).pvalue
        for k, n in zip(cues["productive"], cues["applicable"], strict=True)
    ]
    cues["p_corrected"] = (cues["p"] * len(cues)).clip(upper=1)
    return cues.sort_values(["applicable", "cue"], ascending=[False, True], ignore_index=True)


def interval(
    productive: Sequence[int], applicable: Sequence[int], level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Exact (Clopper-Pearson) intervals at significance `level`: low and high ends, [cue].

    Quantiles of beta distributions: exact, where scipy's `proportion_ci` solves numerically.
    """
    k, n = np.asarray(productive, float), np.asarray(applicable, float)
    low = np.where(k > 0, scipy.stats.beta.ppf(level / 2, k, n - k + 1), 0.0)
    high = np.where(k < n, scipy.stats.beta.ppf(1 - level / 2, k + 1, n - k), 1.0)
    return low, high


def main(
    table: Path,
    cues: job.Out,
    cue: str,
    sizes: list[int],
    same: dict[str, str],
    min_coverage: float,
) -> None:
    """Write the cues of every split and of all; negated and swapped sets hold the original, too."""
    points, frames = tables.read(table), []
    study_cue = tuple(cue.lower().split())
    for version in ARCT_VERSIONS:
        versions = tuple(dict.fromkeys(["original", version]))
        with_version = set(points[points["version"] == version]["split"])
        splits = [split for split in splits_of(points) if split in with_version]
        parts = {split: points_of(points, split, versions) for split in splits}
        if len(parts) > 1:
            parts["all"] = pd.concat(parts.values(), ignore_index=True)
        for split, part in parts.items():
            measured = measure(part, sizes, same, min_coverage, study_cue)
            frames.append(measured.assign(data=version, split=split))
    tables.write(pd.concat(frames, ignore_index=True), cues)


if __name__ == "__main__":
    job.run(main, globals())
