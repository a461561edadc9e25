"""What surface patterns show about each head, for tables that join what chapters know of heads."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.tables import KEYS, TableSet
from workflow_scripts.surface.measures import ENTROPY, POSITION, SPECIAL_TOKENS

# What a head is, by its columns and a threshold of attention.
KINDS = {
    "position": lambda head, least: max(head[to] for to in ("self", "previous", "next")) > least,
    "special tokens": lambda head, least: head["cls"] + head["sep"] > least,
}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: attention to itself, neighbours and special tokens, and its entropy in nats."""
    if not all(table in found for table in (POSITION, SPECIAL_TOKENS, ENTROPY)):
        return None
    frames = [found[table] for table in (POSITION, SPECIAL_TOKENS)]
    wide = pd.concat(frames).pivot_table(index=KEYS, columns="target", values="attention")
    broad = found[ENTROPY]
    broad = broad[broad["query"] == "all"].set_index(KEYS)["entropy"]
    return wide.join(broad).reset_index()
