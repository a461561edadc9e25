"""What a check finds: one row of the preflight's tables, and how tables are printed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workflow_scripts.core.run.errors import InputError, one_line

OK, NOTE, ERROR = "ok", "note", "ERROR"
UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


@dataclass(frozen=True)
class Finding:
    """What is looked at, how it is (OK, NOTE or ERROR), and in one line why."""

    what: str
    state: str
    why: str


def attempt(what: str, check: Callable[[], tuple[Any, str]]) -> tuple[Any, Finding]:
    """What `check` returns beside a line for people, or None where it raises, and the finding.

    An InputError is quoted; another error is named, as it is no input's that the readers know.
    """
    try:
        value, why = check()
    except InputError as error:
        return None, Finding(what, ERROR, str(error))
    except Exception as error:
        return None, Finding(what, ERROR, f"{type(error).__name__}: {one_line(error)}")
    return value, Finding(what, OK, why)


def size(n_bytes: float) -> str:
    """A number of bytes in words, of two or three digits."""
    unit, factor = next((u for u in UNITS if n_bytes >= u[1]), UNITS[-1])
    value = n_bytes / factor
    return f"{value:.1f} {unit}" if value < 99.95 else f"{value:,.0f} {unit}"


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows in columns that are as wide as their cells; those in `right` are flush right."""
    lines = [list(head), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    right = set(right)
    printed = []
    for line in lines:
        cells = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        printed.append("  ".join(cells).rstrip())
    return "\n".join(printed)
