"""Clark et al. 2019, Table 2: antecedent selection by rules and by the best head."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.run import job
from workflow_scripts.coreference.antecedents import ALL, OTHER_WORD

SYSTEMS = {"nearest": "nearest mention", "head_match": "head word match", "rules": "four sieves"}
# The paper's own accuracies (BERT-base, head 5-4, on CoNLL-2012), in percent.
PAPER = {
    "nearest": {"all": 27, "pronoun": 29, "proper": 29, "nominal": 19},
    "head_match": {"all": 52, "pronoun": 47, "proper": 67, "nominal": 40},
    "rules": {"all": 69, "pronoun": 70, "proper": 77, "nominal": 60},
    "words": {"all": 65, "pronoun": 64, "proper": 73, "nominal": 58},
}
# Printed for all mentions together alone.
NEURAL = {
    "system": "neural (Wiseman et al. 2015)",
    "type": ALL,
    "paper_accuracy": 83,
    "note": "the paper: on whole documents and with other mention detection, roughly comparable",
}
# Over which rules the head's gain is printed: the two that section 4.3 compares it with.
GAINS, ENDS = ("head_match", "rules"), ("", "_low", "_high")
# The paper does not restrict the candidates, so the maximum among all other words is compared.
COMPARED = "words"
IN_SAMPLE = "accuracy in sample: the head was chosen on the same documents"
# Of the columns the first: the best head is measured on documents that did not choose it.
FIRST = ["system", "candidates", "type", "held_out_head", "held_out_accuracy", "held_out_n"]


def table2(scores: pd.DataFrame, rules: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """One row per system and type, accuracies in percent; for the neural system only the paper's.

    Of a decoder without what the paper has.
    The best head is the best for all types together, as in the paper; `best_for_type` is the best
    for each type alone. `accuracy` and `best_for_type_accuracy` are of the documents that chose the
    head, `held_out_accuracy` and the gains of others.
    """
    rows = [
        {"system": SYSTEMS[row["system"]], "candidates": "mentions", **_row(row, row["system"])}
        for row in rules.to_dict("records")
    ]
    for candidates, frame in sorted(scores.groupby("candidates"), reverse=True):
        of_all = frame[frame["type"] == ALL]
        top = of_all.loc[of_all["accuracy"].idxmax()]
        of_top = (frame["layer"] == top["layer"]) & (frame["head"] == top["head"])
        held_out = best[best["candidates"] == candidates].set_index("type")
        for row in frame[of_top].to_dict("records"):
            rows.append(
                {
                    "system": "best head",
                    "candidates": candidates,
                    **_held_out(held_out.loc[row["type"]]),
                    "head": head_label(row["layer"], row["head"]),
                    **_row(row, candidates),
                    **_best_for_type(frame[frame["type"] == row["type"]]),
                    "note": IN_SAMPLE,
                }
            )
    table = pd.DataFrame(rows)
    as_in_paper = (table["system"] != "best head") | (table["candidates"] == COMPARED)
    table["compared"] = as_in_paper & (table["type"] != OTHER_WORD)
    if "coverage" in table:  # of a decoder, and the paper has none
        table = table.drop(columns=["paper_accuracy", "compared"])
    else:
        table = pd.concat([table, pd.DataFrame([NEURAL | {"compared": False}])], ignore_index=True)
    counts = ["n", "n_documents", "tied", "held_out_n"]
    table = table[[*FIRST, *table.columns.drop(FIRST)]]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _row(row: dict, system: str) -> dict:
    shares = ("accuracy", "ci_low", "ci_high", "uniform", "coverage")
    percent = {key: 100 * row[key] for key in shares if key in row}
    counted = {key: row[key] for key in ("n", "n_documents", "tied") if key in row}
    paper = PAPER.get(system, {}).get(row["type"])
    return {"type": row["type"], **percent, **counted, "paper_accuracy": paper}


def _best_for_type(frame: pd.DataFrame) -> dict:
    if not frame["accuracy"].notna().any():
        return {"best_for_type": "", "best_for_type_accuracy": None}
    top = frame.loc[frame["accuracy"].idxmax()]
    name = head_label(int(top["layer"]), int(top["head"]))
    return {"best_for_type": name, "best_for_type_accuracy": 100 * top["accuracy"]}


def _held_out(row: pd.Series) -> dict:
    return {
        "held_out_head": head_label(int(row["held_out_layer"]), int(row["held_out_head"])),
        "held_out_accuracy": 100 * row["held_out_accuracy"],
        "held_out_n": row["held_out_n"],
        **{f"gain_{rule}{end}": 100 * row[f"gain_{rule}{end}"] for rule in GAINS for end in ENDS},
    }


def main(
    scores: Path, rules: Path, best: Path, table: job.Out, annotation: str, singletons: bool
) -> None:
    """Write the table; `annotation` and `singletons` state what the mentions are."""
    frame = table2(tables.read(scores), tables.read(rules), tables.read(best)).round(1)
    kept = "kept" if singletons else "left out"
    tables.write_csv(frame.assign(annotation=annotation, singletons=kept), table)


if __name__ == "__main__":
    job.run(main, globals())
