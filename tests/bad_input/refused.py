"""What every refusal must be: one line, which names the file and states how to go on."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError


def refused(read: Callable[[], object], *words: str | Path) -> str:
    """The line with which `read` ends; it holds all `words` and, after them, what to do."""
    with pytest.raises(InputError) as error:
        result = read()
        if isinstance(result, Iterable):
            list(result)
    line = str(error.value)
    assert "\n" not in line
    assert len(line) < 1100
    assert any(mark in line for mark in ("; ", ": ")), line
    for word in map(str, words):
        assert word in line, line
    return line
