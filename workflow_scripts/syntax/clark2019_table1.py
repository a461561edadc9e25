"""Clark et al. 2019, Table 1: the best head for each relation, beside the best fixed offset."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


class Published(NamedTuple):
    """The paper's numbers for a relation: BERT-base on the Wall Street Journal, in percent."""

    head: str
    accuracy: float
    baseline: float
    offset: int  # of the baseline


PAPER = {
    "all": Published("7-6", 34.5, 26.3, 1),
    "prep": Published("7-4", 66.7, 61.8, -1),
    "pobj": Published("9-6", 76.3, 34.6, -2),
    "det": Published("8-11", 94.3, 51.7, 1),
    "nn": Published("4-10", 70.4, 70.2, 1),
    "nsubj": Published("8-2", 58.5, 45.5, 1),
    "amod": Published("4-10", 75.6, 68.3, 1),
    "dobj": Published("8-10", 86.8, 40.0, -2),
    "advmod": Published("7-6", 48.8, 40.2, 1),
    "aux": Published("4-10", 81.1, 71.5, 1),
    "poss": Published("7-6", 80.5, 47.7, 1),
    "auxpass": Published("4-10", 82.5, 40.5, 1),
    "ccomp": Published("8-1", 48.8, 12.4, -2),
    "mark": Published("8-2", 50.7, 14.5, 2),
    "prt": Published("6-7", 99.1, 91.4, -1),
}


def best_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The row of the highest accuracy for each relation; the first of equals."""
    return frame.loc[frame.groupby("relation", sort=False)["accuracy"].idxmax()]


def table1(
    scores: pd.DataFrame, offsets: pd.DataFrame, best: pd.DataFrame, fewest: int
) -> pd.DataFrame:
    """One row per relation, the paper's first and in its order; accuracies in percent.

    Relations that occur less than `fewest` times are left out, and so is punctuation.
    """
    frame = best_of(scores[(scores["n"] >= fewest) & (scores["relation"] != "punct")])
    base = best_of(offsets.dropna()).rename(columns={"accuracy": "baseline"})
    frame = frame.merge(base, on="relation").merge(best, on="relation")
    order = {relation: rank for rank, relation in enumerate(PAPER)}
    rank = frame["relation"].map(order).fillna(len(PAPER))
    frame = frame.assign(rank=rank).sort_values(["rank", "n"], ascending=[True, False])
    return pd.DataFrame([_row(row) for row in frame.to_dict("records")])


def _row(row: dict) -> dict:
    paper = PAPER.get(row["relation"])
    return {
        "relation": row["relation"],
        "head": label(row["layer"], row["head"]),
        "direction": row["direction"],
        "accuracy": 100 * row["accuracy"],
        "ci_low": 100 * row["ci_low"],
        "ci_high": 100 * row["ci_high"],
        "n": row["n"],
        "baseline": 100 * row["baseline"],
        "offset": row["offset"],
        "held_out_head": label(row["held_out_layer"], row["held_out_head"]),
        "held_out_accuracy": 100 * row["held_out_accuracy"],
        "held_out_n": row["held_out_n"],
        "paper_head": paper.head if paper else "",
        "paper_accuracy": paper.accuracy if paper else None,
        "paper_baseline": paper.baseline if paper else None,
    }


def main(scores: Path, offsets: Path, best: Path, table: Out, fewest: int, annotation: str) -> None:
    """Write the table; `annotation` says whether the trees are gold or silver."""
    frame = table1(tables.read(scores), tables.read(offsets), tables.read(best), fewest)
    tables.write_csv(frame.round(1).assign(annotation=annotation), table)


if __name__ == "__main__":
    job.run(main, globals())
