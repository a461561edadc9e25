"""Tables of heads with a role: means with their intervals, and the test that decides."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.core.stats.randomisation import LEVEL
from workflow_scripts.core.stats.sign_flips import holm, sign_flip_p


def mean_measures(
    values: Mapping[str, np.ndarray],
    kind: str,
    name: str,
    draws: int,
    seed: int,
    documents: Sequence[str] | None,
) -> pd.DataFrame:
    """One row per head: each measure's mean over examples with a 95% interval, as `per_head`.

    `values` maps each measure to numbers [example, layer, head], of all measures as many. The ends
    are `<measure>_low` and `<measure>_high`, and `name` stands in column `kind`.
    """
    frame = None
    for measure, numbers in values.items():
        one = per_head({name: numbers}, kind, measure, draws, seed, documents)
        one = one.rename(columns={f"ci_{end}": f"{measure}_{end}" for end in ("low", "high")})
        frame = one if frame is None else frame.merge(one)  # on head, `kind`, and counts
    return frame


def with_role(frame: pd.DataFrame, differences: np.ndarray, above: pd.Series) -> pd.DataFrame:
    """The rows of `frame` with p, p_corrected and `has_role`.

    p is that of the sign-flip test of differences [unit, ...], those of a unit in the order of the
    rows, two-sided; p_corrected is corrected for all rows (Holm). A head `has_role` where that is
    below LEVEL and the head `above` what its role asks.
    """
    p = sign_flip_p(differences.reshape(len(differences), -1))
    frame = frame.assign(p=p, p_corrected=holm(p))
    return frame.assign(has_role=above & (frame["p_corrected"] < LEVEL))
