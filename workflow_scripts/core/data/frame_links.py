"""Links between a predicate and its core frame elements, next to a corpus's examples."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.core.data.records import read_records, write_records

if TYPE_CHECKING:
    import pandas as pd

JUDGED = "either"  # direction of attention: the paper's links are pairs of tokens, without one
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


def frame_heads(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The study's one list of frame heads, the largest difference first (docs/chapters/frames.md).

    They attend more along links, in either direction, than along the links' controls: by
    LEAST_DIFFERENCE or more, and by more than chance among all heads. `scores` has a row per head
    and direction; the chosen rows are those of the direction JUDGED.
    """
    rows = scores[scores["direction"] == JUDGED]
    chosen = rows[(rows["p_corrected"] < LEVEL) & (rows["difference"] >= LEAST_DIFFERENCE)]
    return chosen.sort_values("difference", ascending=False, kind="stable")
