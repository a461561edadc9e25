"""How well two annotations of the same maps agree (Kovaleva et al. 2019, see section 4.1)."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, bootstrap_weights, wilson
from workflow_scripts.patterns.annotated_maps import CLASSES, Annotation, read_annotations


def paired(first: Iterable[Annotation], second: Iterable[Annotation]) -> np.ndarray:
    """The classes' numbers that both annotations give each map of the second, int [2, map]."""
    labels = {annotation.key: annotation.label for annotation in first}
    return np.array([(labels[other.key], other.label) for other in second]).T


def agreement(labels: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    """Share of maps with equal classes, with Wilson's interval: all, and by the first's class.

    For all also Cohen's kappa, with a 95% bootstrap interval over maps. `labels` is [2, map].
    """
    one, other = labels
    rows = []
    for name in ("all", *CLASSES):
        chosen = np.full(len(one), True) if name == "all" else one == CLASSES.index(name)
        n, equal = int(chosen.sum()), int((one == other)[chosen].sum())
        row = {"class": name, "n": n}
        if n:
            low, high = wilson(equal, n)
            row |= {"agreement": equal / n, "ci_low": low, "ci_high": high}
        instead = np.bincount(other[chosen & (one != other)], minlength=len(CLASSES))
        if name != "all" and instead.any():
            row["instead"] = CLASSES[int(instead.argmax())]
        rows.append(row)
    kappas = [
        cohen_kappa_score(one, other, sample_weight=weights)
        for weights in bootstrap_weights(len(one), draws, seed)
    ]
    rows[0]["kappa"] = cohen_kappa_score(one, other)
    rows[0]["kappa_low"], rows[0]["kappa_high"] = np.percentile(kappas, CONFIDENCE)
    return pd.DataFrame(rows)


def main(first: Path, second: Path, table: Out, draws: int, seed: int) -> None:
    """Write the agreement on the maps of the file `second`."""
    labels = paired(read_annotations(first), read_annotations(second))
    tables.write_csv(agreement(labels, draws, seed), table)


if __name__ == "__main__":
    job.run(main, globals())
