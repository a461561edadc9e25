"""Linguistic heads of Figure 6 (Clark et al. 2019, section 6), found in sections 4.2 and 4.3.

In the paper these are the heads of Figure 5: the best one for each relation, and for coreference.
"""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

COREFERENCE = "coreference"
COLUMNS = ["behaviour", "layer", "head", "accuracy", "ci_low", "ci_high", "n", "baseline", "marked"]


def of_syntax(
    scores: pd.DataFrame, offsets: pd.DataFrame, relations: list[str], fewest: int
) -> pd.DataFrame:
    """The best head for each of `relations` with at least `fewest` words, beside the best offset.

    A head is marked where the lower end of its interval is above the best fixed offset.
    """
    baseline = offsets.groupby("relation")["accuracy"].max()
    found = scores[scores["relation"].isin(relations) & (scores["n"] >= fewest)]
    found = found.dropna(subset=["accuracy"])
    best = found.loc[found.groupby("relation")["accuracy"].idxmax()]
    return _rows(best, best["relation"], best["relation"].map(baseline)).sort_values(
        "behaviour", key=lambda names: names.map(relations.index)
    )


def of_coreference(scores: pd.DataFrame, rules: pd.DataFrame) -> pd.DataFrame:
    """The best head for all mentions among all other words, beside matching head words."""
    found = scores[(scores["candidates"] == "words") & (scores["type"] == "all")]
    best = found.loc[[found["accuracy"].idxmax()]]
    matching = rules[(rules["system"] == "head_match") & (rules["type"] == "all")]
    return _rows(best, COREFERENCE, matching["accuracy"].iloc[0])


def _rows(best: pd.DataFrame, behaviour: "pd.Series | str", baseline: object) -> pd.DataFrame:
    rows = best.assign(behaviour=behaviour, baseline=baseline)
    return rows.assign(marked=rows["ci_low"] > rows["baseline"])[COLUMNS]


def main(
    heads: Out,
    table: Out,
    relations: list,
    fewest: int,
    annotations: dict,
    syntax_scores: Path | None = None,
    offsets: Path | None = None,
    coreference_scores: Path | None = None,
    rules: Path | None = None,
) -> None:
    """Write the heads of the chapters that are part of the study, none where neither is.

    `annotations` says for syntax and coreference whether they are gold, silver or generated.
    """
    frames = [pd.DataFrame(columns=[*COLUMNS, "annotation"])]
    if syntax_scores and offsets:
        found = of_syntax(tables.read(syntax_scores), tables.read(offsets), relations, fewest)
        frames.append(found.assign(annotation=annotations["syntax"]))
    if coreference_scores and rules:
        found = of_coreference(tables.read(coreference_scores), tables.read(rules))
        frames.append(found.assign(annotation=annotations["coreference"]))
    frame = pd.concat([part for part in frames if len(part)] or frames, ignore_index=True)
    tables.write(frame, heads)
    named = frame.assign(head=labels(frame)).drop(columns="layer")
    for column in ("accuracy", "ci_low", "ci_high", "baseline"):
        named[column] = 100 * named[column]
    tables.write_csv(named, table)


if __name__ == "__main__":
    job.run(main, globals())
