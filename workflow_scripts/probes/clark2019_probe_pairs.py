"""Differences between the probes of Table 3 of Clark et al. 2019, on the same documents."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, observed_and_resampled
from workflow_scripts.probes.clark2019_table3 import PAPER

# What the structural probe is compared in; the others are compared with each other in UAS.
UNDIRECTED = "UUAS"


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
        weights = observed_and_resampled(len(total), draws, seed)
        scored = pd.DataFrame(
            100 * (weights @ correct.to_numpy()) / (weights @ total.to_numpy()),
            columns=correct.columns,
        )
        for other, probe in combinations([name for name in PAPER if name in scored], 2):
            if measure == UNDIRECTED and probe != "structural":
                continue
            difference = (scored[probe] - scored[other]).to_numpy()
            several = len(total) > 1
            low, high = np.percentile(difference[1:], CONFIDENCE) if several else (np.nan, np.nan)
            row = {"measure": measure, "probe": probe, "other": other}
            row |= {"score": scored[probe][0], "other_score": scored[other][0]}
            row |= {"difference": difference[0], "ci_low": low, "ci_high": high}
            row |= {"n": int(total[probe].sum()), "n_documents": len(total)}
            row["paper_difference"] = PAPER[probe] - PAPER[other] if measure == "UAS" else None
            rows.append(row)
    return pd.DataFrame(rows).astype({"paper_difference": "Int64"})


def main(counts: Path, table: Out, annotation: str, bootstrap: int = 1000, seed: int = 1) -> None:
    """Write the table; `annotation` states whether the trees are gold or silver."""
    frame = pairs(tables.read(counts), bootstrap, seed).round(1)
    tables.write_csv(frame.assign(annotation=annotation), table)


if __name__ == "__main__":
    job.run(main, globals())
