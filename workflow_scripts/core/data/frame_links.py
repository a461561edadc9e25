"""Links between a predicate and its core frame elements, next to a corpus's examples."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data.records import read_records, write_records

LEVEL = 0.05  # of corrected p-values
LEAST_DIFFERENCE = 0.02  # of attention; many sentences make far smaller ones significant


@dataclass(frozen=True)
class Element:
    """A frame element's name and its words, as indices from 0."""

    name: str
    words: tuple[int, ...]


@dataclass(frozen=True)
class FrameLinks:
    """A sentence's predicate (its words' indices), the frame it evokes and its core elements.

    `others` are its frame elements that are not core.
    """

    id: str
    words: tuple[str, ...]
    frame: str
    target: tuple[int, ...]
    elements: tuple[Element, ...]
    others: tuple[Element, ...]
    source: str


def write_links(path: Path, links: Iterable[FrameLinks]) -> None:
    """Write one JSON object per line, UTF-8."""
    write_records(path, links)


def read_links(path: Path) -> list[FrameLinks]:
    """The links of an annotation file. Raises InputError, with the line, if it is damaged."""
    return read_records(path, _links, "a sentence's frame links")


def _links(elements: tuple[dict, ...], others: tuple[dict, ...], **fields: Any) -> FrameLinks:
    core, rest = (tuple(Element(**item) for item in items) for items in (elements, others))
    return FrameLinks(**fields, elements=core, others=rest)


def linking(scores: pd.DataFrame) -> pd.Series:
    """Whether a row's head attends more along links than along their controls.

    By LEAST_DIFFERENCE or more, and by more than chance among all heads.
    """
    return (scores["p_corrected"] < LEVEL) & (scores["difference"] >= LEAST_DIFFERENCE)


def linking_heads(scores: pd.DataFrame) -> pd.DataFrame:
    """The heads for which this holds in either direction, the largest difference first."""
    chosen = scores[linking(scores) & (scores["direction"] == "either")]
    return chosen.sort_values("difference", ascending=False, kind="stable")
