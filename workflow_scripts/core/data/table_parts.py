"""Tables that several jobs write in parts: each row carries its number in the whole table."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError

ROW = "row"


def join(parts: Sequence[Path]) -> pd.DataFrame:
    """The whole table from its parts, in the order of their column `row`, which goes.

    Parts without rows add nothing. Raises InputError where rows are missing or stand in two parts.
    """
    frames = [frame for part in parts if len(frame := tables.read(part, (ROW,)))]
    whole = pd.concat(frames, ignore_index=True)
    whole = whole.sort_values(ROW, kind="stable", ignore_index=True)
    if not np.array_equal(whole.pop(ROW), np.arange(len(whole))):
        raise InputError(
            f"{parts[0].parent}: the parts lack rows or share some; delete them and run again"
        )
    return whole
