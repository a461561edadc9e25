"""What kinds each head is of, by what a study's chapters measured (Kovaleva et al. 2019, 5)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.core.data.heads import KINDS
from workflow_scripts.core.measures.forms import KEYS, HeadKind, TableSet


def with_kinds(
    heads: pd.DataFrame, known: Sequence[Path], fewest: int, threshold: float
) -> pd.DataFrame:
    """`heads` with the columns of all chapters, `kinds`, and `stratum`, the first of these.

    `known` are the tables of the chapters that have columns; relations with fewer words than
    `fewest` do not count. Heads of the kinds position and special tokens give more than
    `threshold` of their attention there.
    """
    found, told = TableSet(known), dict[str, HeadKind]()
    for chapter in collect("measures").values():
        columns = getattr(chapter, "columns", lambda *_: None)(found, {"fewest": fewest})
        if columns is not None:
            heads = heads.merge(columns, on=KEYS, how="left")
            told |= getattr(chapter, "HEAD_KINDS", {})
    fitting = [
        [kind for kind in KINDS if kind in told and told[kind].fits(row, threshold)] or [KINDS[-1]]
        for _, row in heads.iterrows()
    ]
    first = [first for first, *_ in fitting]
    return heads.assign(kinds=list(map(", ".join, fitting)), stratum=first)
