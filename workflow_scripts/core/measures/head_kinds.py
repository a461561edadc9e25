"""What kind each head is, by what the chapters of a study measured (Kovaleva et al. 2019, 5)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.core.measures.forms import KEYS, TableSet

# A head is shown as the first that applies.
KINDS = (
    *("syntactic", "frames", "coreference", "same word"),
    *("position", "special tokens", "unclassified"),
)


def with_kinds(
    heads: pd.DataFrame, known: Sequence[Path], fewest: int, threshold: float
) -> pd.DataFrame:
    """`heads` with the columns of all chapters, `kinds`, and `stratum`, the first of these.

    `known` are the tables of the chapters that have columns; relations with fewer words than
    `fewest` do not count. `threshold` is of the attention to positions and special tokens.
    """
    found, tests = TableSet(known), {}
    for chapter in collect("measures").values():
        if not hasattr(chapter, "columns"):
            continue
        if (columns := chapter.columns(found, {"fewest": fewest})) is not None:
            heads = heads.merge(columns, on=KEYS, how="left")
            tests |= getattr(chapter, "HEAD_KINDS", {})
    fitting = [
        [kind for kind in KINDS if kind in tests and tests[kind](row, threshold)] or [KINDS[-1]]
        for _, row in heads.iterrows()
    ]
    first = [first for first, *_ in fitting]
    return heads.assign(kinds=list(map(", ".join, fitting)), stratum=first)


def rows_of_kind(heads: pd.DataFrame, kind: str) -> np.ndarray:
    """Which rows of `with_kinds` are of a kind, bool; a head may be of several."""
    return np.array([kind in kinds.split(", ") for kinds in heads["kinds"]])
