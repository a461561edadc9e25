"""Clark et al. 2019, Table 2: antecedent selection by rules and by the best head."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.coreference.antecedents import ALL, TYPES

SYSTEMS = {"nearest": "nearest mention", "head_match": "head word match", "rules": "four sieves"}
# The paper's own accuracies (BERT-base, head 5-4, on CoNLL-2012), in the order of TYPES.
PAPER = {
    "nearest": (27, 29, 29, 19),
    "head_match": (52, 47, 67, 40),
    "rules": (69, 70, 77, 60),
    "words": (65, 64, 73, 58),
}
# The paper's wording names no smaller set, so the maximum among all other words is compared.
COMPARED = "words"


def table2(scores: pd.DataFrame, rules: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """One row per system and type, accuracies in percent.

    The best head is the best for all types together, as in the paper; `best_for_type` is the best
    for each type alone.
    """
    rows = [
        {"system": SYSTEMS[row["system"]], "candidates": "mentions", **_row(row, row["system"])}
        for row in rules.to_dict("records")
    ]
    for candidates, frame in sorted(scores.groupby("candidates"), reverse=True):
        of_all = frame[frame["type"] == ALL]
        top = of_all.loc[of_all["accuracy"].idxmax()]
        same = (frame["layer"] == top["layer"]) & (frame["head"] == top["head"])
        honest = best[best["candidates"] == candidates].set_index("type")
        for row in frame[same].to_dict("records"):
            rows.append(
                {
                    "system": "best head",
                    "candidates": candidates,
                    "head": label(row["layer"], row["head"]),
                    **_row(row, candidates),
                    **_best_for_type(frame[frame["type"] == row["type"]]),
                    **_held_out(honest.loc[row["type"]]),
                }
            )
    table = pd.DataFrame(rows)
    table["compared"] = (table["system"] != "best head") | (table["candidates"] == COMPARED)
    return table


def _row(row: dict, system: str) -> dict:
    paper = dict(zip(TYPES, PAPER.get(system, ()), strict=False))
    percent = {key: 100 * row[key] for key in ("accuracy", "ci_low", "ci_high")}
    return {"type": row["type"], **percent, "n": row["n"], "paper_accuracy": paper.get(row["type"])}


def _best_for_type(frame: pd.DataFrame) -> dict:
    if not frame["accuracy"].notna().any():
        return {"best_for_type": "", "best_for_type_accuracy": None}
    top = frame.loc[frame["accuracy"].idxmax()]
    name = label(int(top["layer"]), int(top["head"]))
    return {"best_for_type": name, "best_for_type_accuracy": 100 * top["accuracy"]}


def _held_out(row: pd.Series) -> dict:
    return {
        "held_out_head": label(int(row["held_out_layer"]), int(row["held_out_head"])),
        "held_out_accuracy": 100 * row["held_out_accuracy"],
        "held_out_n": row["held_out_n"],
    }


def main(scores: Path, rules: Path, best: Path, table: Out, annotation: str) -> None:
    """Write the table; `annotation` says whether the mentions are gold or generated."""
    frames = [tables.read(path) for path in (scores, rules, best)]
    tables.write_csv(table2(*frames).round(1).assign(annotation=annotation), table)


if __name__ == "__main__":
    job.run(main, globals())
