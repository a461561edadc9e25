"""Heads that link a predicate to its frame elements, in tables (Kovaleva et al. 2019, 4.2)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import FRAME_DIRECTION, frame_heads
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.frames.frame_drawings import directions_of, heads_above
from workflow_scripts.frames.frame_scores import DIRECTIONS

# Two heads of BERT-base on 473 sentences. The text does not state the direction of its means.
PAPER = {FRAME_DIRECTION: "0.201 and 0.209"}
MEANS = ["attention", "ci_low", "ci_high", "n", "n_documents"]
COMPARED = ["linked", "control", "difference", "difference_low", "difference_high"]
COMPARED += ["p", "p_corrected", "n_compared", "n_documents_compared", "links_compared"]


def above_percentile(scores: pd.DataFrame, percentile: float) -> pd.DataFrame:
    """The heads above the percentile in each direction, next to the paper's."""
    names = directions_of(scores)
    chosen = pd.concat([heads_above(scores, percentile, name) for name in names])
    of_decoder = [name for name in ("uniform", "coverage") if name in chosen]
    paper = {} if of_decoder else PAPER  # the paper's links are on either side
    chosen["paper"] = [paper.get(name, "") for name in chosen["direction"]]
    columns = [*MEANS, *of_decoder, "percentile", "threshold", "heads", "count_fixed", "paper"]
    return named(chosen)[["direction", "head", *columns, "difference", "p_corrected"]]


def with_controls(scores: pd.DataFrame) -> pd.DataFrame:
    """All heads in each direction, those most above their controls first."""
    order = scores["direction"].map({name: number for number, name in enumerate(DIRECTIONS)})
    rows = scores.iloc[np.lexsort([-scores["difference"], order])]
    of_decoder = [name for name in ("uniform", "coverage") if name in rows]
    return named(rows)[["direction", "head", "attention", *of_decoder, *COMPARED]]


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the heads' names, such as 8-11, for their numbers."""
    return rows.assign(name=head_labels(rows)).drop(columns="head").rename(columns={"name": "head"})


def main(scores: Path, table: Out, controls: Out, percentile: float, generated: bool) -> None:
    """Write the heads above the percentile, and all heads next to their controls."""
    frame = tables.read(scores, ("layer", "head", "direction", *MEANS, *COMPARED))
    listed = named(frame_heads(frame))["head"]
    for rows, path in (
        (above_percentile(frame, percentile), table),
        (with_controls(frame), controls),
    ):
        chosen = rows.assign(frame_head=rows["head"].isin(listed), generated=generated)
        tables.write_csv(chosen, path)


if __name__ == "__main__":
    job.run(main, globals())
