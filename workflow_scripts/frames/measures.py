"""What the table of frame links holds, and the measures of heads that it gives."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.data.annotations import FRAME_DIRECTION, frame_heads
from workflow_scripts.core.measures.forms import (
    KEYS,
    OVER_DOCUMENTS,
    PERCENT,
    Form,
    HeadKind,
    Study,
    Table,
    Tables,
    TableSet,
    identifier,
)

DATA = ("frames", "Frames")
LINKS = Table(
    "frames/scores.parquet",
    value="attention",
    n_of="sentences",
    keys=("direction",),
    **PERCENT,
    better="high",
    paper="kovaleva2019",
    group="Frames",
)
ABOVE_CONTROLS = replace(
    LINKS,
    value="difference",
    interval="difference",
    n="n_compared",
    p="p_corrected",
    null=0,
    null_title="unlinked words at the same distance",
    unit="points",
    decimals=3,
    scale="diverging",
)
DIRECTIONS = {
    "either": "in either direction",
    "from predicate": "from the predicate",
    "to predicate": "to the predicate",
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """Attention along frame links, and above that along unlinked words as far apart."""
    if LINKS not in found:
        return
    over = f"Mean over sentences of the corpus {study.corpora.get('frames')}.{study.note('frames')}"
    for direction, words in DIRECTIONS.items():
        if direction not in set(found[LINKS]["direction"]):
            continue
        if "coverage" in found[LINKS]:
            share = found[LINKS]["coverage"].iloc[0]
            words = f"from the later side to the earlier, {share:.1%} of the links"
        where, key = {"direction": direction}, identifier(direction)
        yield ABOVE_CONTROLS.form(
            f"frames.{key}.above",
            f"Frame links {words}, above controls",
            f"Attention between a predicate and its core frame elements ({words}), minus attention "
            f"between unlinked words of the same sentence at the same distances. {over} Above 0 is "
            "better than the baseline; a head of the kind frames has 2 points or more in either "
            "direction. Interval: 95%, bootstrap over documents; p: matched sets, corrected for "
            "the number of heads.",
            where,
        )
        yield LINKS.form(
            f"frames.{key}",
            f"Frame links {words}",
            f"Attention between a predicate and its core frame elements ({words}): the maximum "
            f"over their tokens. {over} {OVER_DOCUMENTS}",
            where,
        )


# What a head is, by its columns.
HEAD_KINDS = {
    "frames": HeadKind(
        lambda head, _: head["frame_head"],
        "frames",
        "it attends between predicates and their frame elements more than between other words as "
        "far apart, by 2 points or more (p < 0.05, corrected for the heads)",
    )
}


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
