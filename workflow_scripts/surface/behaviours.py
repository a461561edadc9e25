"""What surface patterns show about each head, for tables that group heads by behaviour."""

import pandas as pd

from workflow_scripts.core.measures.tables import KEYS, TableSet
from workflow_scripts.surface.head_columns import columns


def numbers(found: TableSet) -> pd.DataFrame | None:
    """Per (layer, head) and behaviour: the number that the behaviour's threshold is for.

    That is attention to a target or, of broad attention, the entropy in nats.
    """
    wide = columns(found, {})
    return None if wide is None else wide.set_index(KEYS).rename(columns={"entropy": "broad"})
