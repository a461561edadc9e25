"""A head's weight on the token of a role against its weight on tokens at other offsets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


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
