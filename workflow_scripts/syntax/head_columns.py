"""What syntax shows about each head, for tables of other chapters."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.core.stats.randomisation import best_above_baseline
from workflow_scripts.syntax.measures import ALL, OFFSETS, PUNCTUATION, SCORES, baselines

# What a head is, by its columns.
KINDS = {"syntactic": lambda head, _: head["syntactic"]}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: the relation in which it most exceeds the best fixed offset.

    Of relations with at least `settings["fewest"]` words. `above` is by how much (accuracy minus
    the offset's), `syntactic` whether no other head is better at that relation and the difference
    is more than chance, corrected for all heads and relations.
    """
    if SCORES not in found or OFFSETS not in found:
        return None
    frame = found[SCORES]
    frame = frame[(frame["n"] >= settings["fewest"]) & ~frame["relation"].isin([PUNCTUATION, ALL])]
    frame = frame.assign(baseline=baselines(found, frame)).dropna(subset=["baseline"])
    frame["above"] = frame["accuracy"] - frame["baseline"]
    frame["syntactic"] = best_above_baseline(frame, "relation")
    frame = frame.sort_values(["syntactic", "above"], ascending=False, kind="stable")
    first = frame.drop_duplicates(KEYS)
    return first[[*KEYS, "relation", "accuracy", "above", "syntactic"]]


def best_heads(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """The head with the highest accuracy, and as `baseline` the best fixed offset's.

    Of the relations `settings["relations"]`, in their order, with at least `fewest` words.
    """
    if SCORES not in found or OFFSETS not in found:
        return None
    scores, relations = found[SCORES], settings["relations"]
    known = scores[scores["relation"].isin(relations) & (scores["n"] >= settings["fewest"])]
    known = known.dropna(subset=["accuracy"])
    rows = known.loc[known.groupby("relation")["accuracy"].idxmax()]
    rows = rows.assign(behaviour=rows["relation"], baseline=baselines(found, rows))
    return rows.sort_values("behaviour", key=lambda names: names.map(relations.index))
