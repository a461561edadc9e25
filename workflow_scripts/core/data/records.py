"""Records, one JSON object per line: how every annotation and corpus file is written and read."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError

T = TypeVar("T")


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write dataclasses, one per line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")


def read_records(path: Path, build: Callable[..., T], what: str) -> list[T]:
    """What `build` makes of each line's fields, in which lists are tuples.

    Raises InputError, with the line, if `build` cannot make `what` (such as "a tree") of them.
    """
    records = []
    for number, line in read_lines(path):
        try:
            records.append(build(**_with_tuples(json.loads(line))))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(
                f"{path}:{number}: not {what} ({error}); delete the file and run again"
            ) from error
    return records


def _with_tuples(value: Any) -> Any:
    """A JSON value with tuples for lists, as the frozen records hold them."""
    if isinstance(value, dict):
        return {name: _with_tuples(item) for name, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
