"""What frame links show about each head, for tables that join what chapters know of heads."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.data.annotations import FRAME_DIRECTION, frame_heads
from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.frames.measures import LINKS

# What a head is, by its columns.
KINDS = {"frames": lambda head, _: head["frame_head"]}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: attention between a predicate and its frame elements, and whether it stands out.

    `frames_above` is by how much it exceeds attention between unlinked words at the same distance,
    `frame_head` whether it is among the frame heads.
    """
    if LINKS not in found:
        return None
    frame = found[LINKS]
    either = frame[frame["direction"] == FRAME_DIRECTION]
    either = either.rename(columns={"attention": "frames", "difference": "frames_above"})
    listed = either.index.isin(frame_heads(frame).index)
    return either[[*KEYS, "frames", "frames_above"]].assign(frame_head=listed)
