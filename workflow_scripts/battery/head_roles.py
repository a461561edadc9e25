"""Which heads have a role: weights against those at other offsets, means, and the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.bootstrap import per_head
from workflow_scripts.core.stats.randomisation import LEVEL, holm, sign_flip_p


@dataclass(frozen=True)
class Compared:
    """Weights of each unit (a sequence or segment), all [unit, layer, head].

    `score` is that on the role's token, `others` the mean of those at other offsets, `best` that at
    the best other offset: the place `best_place` [layer, head] with the largest mean over units.
    """

    score: np.ndarray
    others: np.ndarray
    best: np.ndarray
    best_place: np.ndarray


def compared(
    weights: np.ndarray, offsets: Sequence[int], of: Mapping[str, int]
) -> dict[str, Compared]:
    """The scores of roles and their nulls, of weights [unit, layer, head, offset]; or NaN.

    A role's token is at the offset that `of` gives, and compared with those at all others.
    """
    found = {}
    for name, own in of.items():
        others = np.array([place for place, offset in enumerate(offsets) if offset != own])
        of_others = weights[..., others]
        best = np.nanmean(of_others, axis=0).argmax(axis=-1)
        at_best = np.take_along_axis(of_others, best[None, ..., None], axis=-1)[..., 0]
        score = weights[..., offsets.index(own)]
        found[name] = Compared(score, of_others.mean(axis=-1), at_best, others[best])
    return found


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
