"""Which heads have a role: weights against those at other offsets, means, and the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.bootstrap import per_head
from workflow_scripts.core.stats.randomisation import LEVEL, holm, sign_flip_p


@dataclass(frozen=True)
class Role:
    """The place of a role's token among the keys that are read, and those it is compared with."""

    name: str
    place: int
    others: tuple[int, ...]


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


def compared(weights: np.ndarray, role: Role) -> Compared:
    """A role's score and its nulls of weights [unit, layer, head, place]; units may be NaN."""
    others = np.array(role.others)
    of_others = weights[..., others]
    best = np.nanmean(of_others, axis=0).argmax(axis=-1)
    at_best = np.take_along_axis(of_others, best[None, ..., None], axis=-1)[..., 0]
    return Compared(weights[..., role.place], of_others.mean(axis=-1), at_best, others[best])


def roles_at(offsets: Sequence[int], of: Mapping[str, int], first: int = 0) -> list[Role]:
    """The roles whose token is at the offset `of` gives, each against all other `offsets`.

    The places of the offsets are numbered from `first`.
    """
    places = {offset: place for place, offset in enumerate(offsets, start=first)}
    return [
        Role(name, places[own], tuple(place for offset, place in places.items() if offset != own))
        for name, own in of.items()
    ]


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
