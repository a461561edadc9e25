"""Files of sentences whose lines are each other's translations; read strictly."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError

Pair = tuple[str, str]
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")  # all control characters but the tab


def read_pairs(source: Path, target: Path) -> Iterator[Pair]:
    """The sentence and its translation in each line, without the spaces around them.

    Raises InputError, with file and line, where one file ends before the other, for an empty side
    and for a control character other than a tab, and as `read_lines` does.
    """
    if source.exists() and target.exists() and source.samefile(target):
        raise InputError(f"{target}: is the source and the target; name one file for each")
    number = 0
    for one, other in zip_longest(_sentences(source), _sentences(target)):
        number += 1
        if one is None or other is None:
            longer, shorter = (source, target) if other is None else (target, source)
            raise InputError(
                f"{longer}:{number}: {shorter} ends before this line, which therefore has no "
                "translation; give two files whose lines are each other's translations"
            )
        if not (one and other):
            path, against = (target, source) if one else (source, target)
            raise InputError(
                f"{path}:{number}: an empty sentence; remove line {number} here and in {against}"
            )
        yield one, other
    if not number:
        raise InputError(f"{source}: no line; give the whole file")


def _sentences(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        if control := CONTROL.search(line):
            raise InputError(
                f"{path}:{number}: the control character {control[0]!r} at column "
                f"{control.start() + 1}; remove it, or put a space in its place"
            )
        yield line.strip()
