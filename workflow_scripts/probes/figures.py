"""Clark et al. 2019, Table 3: how well probes of attention predict trees."""

from itertools import combinations
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import bootstrap_accuracy
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
ROWS = (*list(PAPER)[:3], BOUND, *list(PAPER)[3:])
# What the structural probe is compared in; the others are compared with each other in UAS.
UNDIRECTED = "UUAS"


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


def pairs(counts: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Score of `probe` minus that of `other`, in points, with a 95% interval.

    Every draw of documents is the same for both probes. The paper's difference is given where it
    compares the same measure.
    """
    rows = []
    for measure, part in counts[counts["task"] == "real"].groupby("measure", sort=False):
        correct, total = (
            part.pivot(index="document", columns="probe", values=name)
            for name in ("correct", "total")
        )
        scored = 100 * correct.sum() / total.sum()
        for other, probe in combinations([name for name in PAPER if name in scored], 2):
            if measure == UNDIRECTED and probe != "structural":
                continue
            gained = (correct[probe] - correct[other]).to_numpy()[:, None]
            ends = bootstrap_accuracy(gained, total[[probe]].to_numpy(), draws, seed)
            row = {"measure": measure, "probe": probe, "other": other}
            row |= {"score": scored[probe], "other_score": scored[other]}
            names = ("difference", "ci_low", "ci_high")
            row |= {name: 100 * end[0] for name, end in zip(names, ends, strict=True)}
            row |= {"n": int(total[probe].sum()), "n_documents": len(total)}
            row["paper_difference"] = PAPER[probe] - PAPER[other] if measure == "UAS" else None
            rows.append(row)
    return pd.DataFrame(rows).astype({"paper_difference": "Int64"})


def clark2019_table3(
    scores: Path,
    counts: Path,
    table: job.Out,
    differences: job.Out,
    annotation: str,
    bootstrap: int = 1000,
    seed: int = 1,
) -> None:
    """Write Table 3 and the differences between probes; `annotation` is that of the trees."""
    tables.write_csv(table3(tables.read(scores)).assign(annotation=annotation), table)
    compared = pairs(tables.read(counts), bootstrap, seed).round(1)
    tables.write_csv(compared.assign(annotation=annotation), differences)


if __name__ == "__main__":
    job.run_figure(globals())
