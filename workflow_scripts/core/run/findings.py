"""What a preflight finds: each thing that is looked at, how it is, and why."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workflow_scripts.core.errors import InputError, one_line

OK, NOTE, ERROR = "ok", "note", "ERROR"


@dataclass(frozen=True)
class Finding:
    """What is looked at, how it is (OK, NOTE or ERROR), and in one line why."""

    what: str
    state: str
    why: str


@dataclass
class Findings:
    """The findings in order, and what the checks that succeeded have read, by what was checked."""

    rows: list[Finding] = field(default_factory=list)
    read: dict[str, Any] = field(default_factory=dict)

    def look(self, what: str, check: Callable[[], tuple[Any, str]]) -> Any:
        """What `check` reads, which also gives a line for people; None where it raises.

        An InputError is quoted; another error is named, as it is no input's that the readers know.
        """
        try:
            value, why = check()
        except InputError as error:
            self.rows.append(Finding(what, ERROR, str(error)))
        except Exception as error:
            text = f"{type(error).__name__}: {one_line(error)}"
            self.rows.append(Finding(what, ERROR, text))
        else:
            self.rows.append(Finding(what, OK, why))
            self.read[what] = value
            return value
        return None
