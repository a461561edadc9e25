"""What antecedents show about each head, for tables of other chapters."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.forms import KEYS, TableSet
from workflow_scripts.core.stats.randomisation import best_above_baseline
from workflow_scripts.coreference.measures import BASELINES, RULES, SCORES

# What a head is, by its columns.
KINDS = {"coreference": lambda head, _: head["coreference_head"]}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: the type of mentions at which it most exceeds the better of two simple rules.

    Of pronouns, names and nouns, those with at least `settings["fewest"]` mentions; the head's
    candidates are all other words. `antecedents` is its accuracy, `antecedents_above` by how much
    it exceeds the better of BASELINES, `coreference_head` whether no other head is better at that
    type and the difference is more than chance, corrected for all heads and types. None where the
    study has no such mentions.
    """
    if SCORES not in found or RULES not in found:
        return None
    scores, rules = found[SCORES], found[RULES]
    rules = rules[rules["system"].isin(BASELINES)]
    frame = scores[(scores["candidates"] == "words") & (scores["type"] != "all")]
    frame = frame[frame["n"] >= settings["fewest"]]
    if frame.empty:
        return None
    baseline = frame["type"].map(rules.groupby("type")["accuracy"].max())
    frame = frame.assign(baseline=baseline).dropna(subset=["accuracy", "baseline"])
    frame["antecedents_above"] = frame["accuracy"] - frame["baseline"]
    frame["coreference_head"] = best_above_baseline(frame, "type")
    order = ["coreference_head", "antecedents_above"]
    first = frame.sort_values(order, ascending=False, kind="stable").drop_duplicates(KEYS)
    first = first.rename(columns={"type": "mentions", "accuracy": "antecedents"})
    return first[[*KEYS, "mentions", "antecedents", *order[::-1]]]


def best_heads(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """The best head for all mentions among all other words; `baseline` matches head words."""
    if SCORES not in found or RULES not in found:
        return None
    scores, rules = found[SCORES], found[RULES]
    known = scores[(scores["candidates"] == "words") & (scores["type"] == "all")]
    matching = rules[(rules["system"] == "head_match") & (rules["type"] == "all")]
    row = known.loc[[known["accuracy"].idxmax()]]
    return row.assign(behaviour="coreference", baseline=matching["accuracy"].iloc[0])
