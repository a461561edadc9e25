"""Links between a predicate and its core frame elements, beside a corpus's examples."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError


@dataclass(frozen=True)
class Element:
    """A frame element's name and its words, as indices from 0."""

    name: str
    words: tuple[int, ...]


@dataclass(frozen=True)
class FrameLinks:
    """A sentence's predicate (its words' indices), the frame it evokes and its core elements."""

    id: str
    words: tuple[str, ...]
    frame: str
    target: tuple[int, ...]
    elements: tuple[Element, ...]
    source: str


def write_links(path: Path, links: Iterable[FrameLinks]) -> None:
    """Write one JSON object a line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for one in links:
            file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")


def read_links(path: Path) -> list[FrameLinks]:
    """The links of an annotation file. Raises InputError, with the line, where it is damaged."""
    found = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields = json.loads(line)
                elements = tuple(
                    Element(one["name"], tuple(one["words"])) for one in fields["elements"]
                )
                lists = {name: tuple(fields[name]) for name in ("words", "target")}
                found.append(FrameLinks(**(fields | lists | {"elements": elements})))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{path}:{number}: no frame links ({error}); delete the file and run again"
                ) from error
    return found
