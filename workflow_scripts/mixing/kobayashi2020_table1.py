"""Table 1 of Clark et al. (2019) by norm: the best head for each relation, both ways."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.run import job

KEYS = ["relation", "direction", "layer", "head"]
NUMBERS = ["accuracy", "ci_low", "ci_high"]
PUNCTUATION = "punct"


def both_ways(weights: pd.DataFrame, norms: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """One row per relation: the best head by weight and by norm, the first of equals.

    Each with its accuracy in both ways, in percent; of an encoder the better direction counts, of a
    decoder, whose directions have other words, each has a row. Relations with fewer words than
    `fewest` are left out, and so is punctuation.
    """
    columns = [*KEYS, *NUMBERS]
    counts = [name for name in ("n", "n_documents", "coverage") if name in weights]
    heads = weights[[*columns, *counts]].merge(
        norms[columns], on=KEYS, suffixes=("_by_weight", "_by_norm"), validate="1:1"
    )
    known = heads[(heads["n"] >= fewest) & (heads["relation"] != PUNCTUATION)]
    known = known.dropna(subset=["accuracy_by_weight", "accuracy_by_norm"])
    of = ["relation", "direction"] if "coverage" in weights else ["relation"]
    rows = []
    for _, relation in known.groupby(of, sort=False):
        best = {
            way: relation.loc[relation[f"accuracy_by_{way}"].idxmax()] for way in ("weight", "norm")
        }
        row = {"relation": best["weight"]["relation"]}
        for way, of_way in best.items():
            row[f"best_by_{way}"] = head_label(of_way["layer"], of_way["head"])
            row[f"direction_by_{way}"] = of_way["direction"]
            for measured in ("weight", "norm"):
                for name, end in zip(NUMBERS, ("", "_low", "_high"), strict=True):
                    row[f"best_by_{way}_{measured}{end}"] = 100 * of_way[f"{name}_by_{measured}"]
        same = all(best["weight"][key] == best["norm"][key] for key in KEYS)
        other = row["best_by_norm_norm_low"] > row["best_by_weight_norm_high"]
        row |= {"same": same, "surely_another": bool(other and not same)}
        row |= {name: int(best["weight"][name]) for name in ("n", "n_documents")}
        if "coverage" in best["weight"]:
            row["coverage"] = 100 * best["weight"]["coverage"]
        rows.append(row)
    if not rows:
        return pd.DataFrame(columns=["relation", "same", "surely_another", "n"])
    return pd.DataFrame(rows).sort_values("n", ascending=False, kind="stable")


def main(weights: Path, norms: Path, table: job.Out, fewest: int, annotation: str) -> None:
    """Write the table; `annotation` states whether the trees are gold or silver."""
    frame = both_ways(tables.read(weights), tables.read(norms), fewest)
    numbers = frame.select_dtypes(np.floating).columns
    tables.write_csv(frame.round(dict.fromkeys(numbers, 1)).assign(annotation=annotation), table)


if __name__ == "__main__":
    job.run(main, globals())
