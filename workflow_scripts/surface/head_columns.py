"""What surface patterns show about each head, for tables of other chapters."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.surface.measures import ENTROPY, POSITION, SPECIAL_TOKENS

# A decoder's tokens attend to no next one; its first token is like [CLS].
POSITIONS, SPECIAL = ("self", "previous", "next"), ("cls", "sep", "first")
# What a head is, by its columns and a threshold of attention.
KINDS = {
    "position": lambda head, least: max(head.get(to, 0) for to in POSITIONS) > least,
    "special tokens": lambda head, least: sum(head.get(to, 0) for to in SPECIAL) > least,
}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: attention to itself, neighbours and special tokens, and its entropy in nats.

    For a decoder also entropy as a share of the largest possible, `relative`.
    """
    if not all(table in found for table in (POSITION, SPECIAL_TOKENS, ENTROPY)):
        return None
    frames = [found[table] for table in (POSITION, SPECIAL_TOKENS)]
    wide = pd.concat(frames).pivot_table(index=KEYS, columns="target", values="attention")
    broad = found[ENTROPY]
    shown = [name for name in ("entropy", "relative") if name in broad]
    broad = broad[broad["query"] == "all"].set_index(KEYS)[shown]
    return wide.join(broad).reset_index()


def behaviours(found: TableSet) -> pd.DataFrame | None:
    """Per (layer, head) and behaviour: the number that the behaviour's threshold is for.

    That is attention to a target or, of broad attention, the entropy: in nats or, of a decoder, as
    a share of the largest possible.
    """
    wide = columns(found, {})
    if wide is None:
        return None
    broad = "relative" if "relative" in wide else "entropy"
    return wide.set_index(KEYS).rename(columns={broad: "broad"})
