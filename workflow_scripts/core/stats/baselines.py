"""Which heads beat a baseline, where many heads were tried on many things."""

from statistics import NormalDist

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.randomisation import LEVEL


def best_above_baseline(frame: pd.DataFrame, of: str) -> pd.Series:
    """Whether a row is the best of its `of`, and above its baseline by more than chance, bool.

    A row is a head at one thing, such as a relation; `accuracy`, `ci_low` and `ci_high` (95%) are
    its share of `n` words, `baseline` that of a rule on the same words. The gain's normal interval,
    with the baseline's own binomial error and corrected for all rows (Bonferroni), is above 0.
    """
    normal = NormalDist()
    best = frame.groupby(of)["accuracy"].transform("max") == frame["accuracy"]
    z = normal.inv_cdf(1 - LEVEL / 2 / len(frame))
    error = (frame["ci_high"] - frame["ci_low"]) / (2 * normal.inv_cdf(1 - LEVEL / 2))
    chance = frame["baseline"] * (1 - frame["baseline"]) / frame["n"]
    return best & (frame["accuracy"] - frame["baseline"] > z * np.sqrt(error**2 + chance))
