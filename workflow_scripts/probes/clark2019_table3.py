"""Clark et al. 2019, Table 3: how well probes of attention predict dependency trees."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.probes.probe_scores import BOUND

# The paper's own scores (BERT-base, Penn Treebank, GloVe), in its order.
PAPER = {
    "right-branching": 26,
    "distances-and-words": 58,
    "random-attention-and-words": 30,
    "attention-only": 61,
    "attention-and-words": 77,
    "structural": 80,
}
ROWS = ("right-branching", "distances-and-words", "random-attention-and-words", BOUND)
ROWS += ("attention-only", "attention-and-words", "structural")


def table3(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per probe: UAS (UUAS of the structural probe), control task and selectivity, in %."""
    by_task = scores.set_index(["task", "probe"])
    rows = []
    for probe in ROWS:
        real = by_task.loc[("real", probe)]
        row = {"probe": probe, "measure": real["measure"]}
        row |= {key: 100 * real[key] for key in ("score", "ci_low", "ci_high")}
        row |= {"n": real["n"], "paper_score": PAPER.get(probe)}
        row |= {"control": None, "selectivity": None}
        if ("control", probe) in by_task.index:
            control = by_task.loc[("control", probe), "score"]
            row |= {"control": 100 * control, "selectivity": 100 * (real["score"] - control)}
        row["layer"] = real["layer"] if real["layer"] >= 0 else None
        rows.append(row | {key: real[key] for key in ("n_documents", "learning_rate")})
    frame = pd.DataFrame(rows).astype({"layer": "Int64", "paper_score": "Int64"})
    rounded = frame.drop(columns="learning_rate").round(1)
    return rounded.assign(learning_rate=frame["learning_rate"])


def main(scores: Path, table: Out, annotation: str) -> None:
    """Write the table; `annotation` states whether the trees are gold or silver."""
    frame = table3(tables.read(scores)).assign(annotation=annotation)
    tables.write_csv(frame, table)


if __name__ == "__main__":
    job.run(main, globals())
