"""What classes of maps show about each head, for tables that join what chapters know of heads."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.patterns.measures import NETWORK, SHARES


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: the most frequent class of its maps after fine-tuning, and that class's share."""
    if SHARES not in found:
        return None
    frame = found[SHARES]
    frame = frame[(frame["method"] == NETWORK["method"]) & (frame["stage"] == "fine-tuned")]
    frame = frame.groupby([*KEYS, "class"], as_index=False)["share"].mean()
    best = frame.sort_values("share", ascending=False, kind="stable").drop_duplicates(KEYS)
    return best.rename(columns={"class": "pattern", "share": "pattern_share"})
