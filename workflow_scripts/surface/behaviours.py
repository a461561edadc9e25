"""What surface patterns show about each head, for tables that group heads by behaviour."""

import pandas as pd

from workflow_scripts.core.measures.tables import KEYS, TableSet
from workflow_scripts.surface.head_columns import columns


def numbers(found: TableSet) -> pd.DataFrame | None:
    """Per (layer, head) and behaviour: the number that the behaviour's threshold is for.

    That is attention to a target or, of broad attention, the entropy: in nats or, of a decoder, as
    a share of the largest possible.
    """
    wide = columns(found, {})
    if wide is None:
        return None
    broad = "relative" if "relative" in wide else "entropy"
    return wide.set_index(KEYS).rename(columns={broad: "broad"})
