"""What the tables of antecedents hold, and the measures of heads that they give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.measures.forms import (
    KEYS,
    OVER_DOCUMENTS,
    PERCENT,
    Form,
    Study,
    Table,
    Tables,
    TableSet,
)
from workflow_scripts.core.stats.randomisation import best_above_baseline

DATA = ("mentions", "Coreferent mentions")
SCORES = Table(
    "coreference/scores.parquet",
    value="accuracy",
    keys=("candidates", "type"),
    **PERCENT,
    better="high",
    paper="clark2019",
    group="Coreference",
)
# Of no attention head.
RULES = replace(
    SCORES,
    file="coreference/rules.parquet",
    keys=("system", "type"),
)
MENTIONS = {"all": "all mentions", "pronoun": "pronouns", "proper": "names", "nominal": "nominals"}
# The simplest rules, which a head must beat to be of use, with their names for people.
BASELINES = {"nearest": "nearest mention", "head_match": "nearest mention with the same head word"}
CANDIDATES = {"words": "all other words", "mentions": "the earlier mentions"}
# For a decoder; the first word, on which most heads rest, is no candidate.
EARLIER = {"words": "the words before it but the first", "mentions": "the earlier mentions"}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """How often the word that a mention attends to most is the head of an antecedent."""
    if SCORES not in found or RULES not in found:
        return
    rules, note = found[RULES].set_index(["system", "type"])["accuracy"], ""
    back = "coverage" in found[SCORES]
    among_words = EARLIER if back else CANDIDATES
    corpus = f"On the corpus {study.corpora.get('coreference')}.{study.note('mentions')}"
    for candidates, among in among_words.items():
        for kind, words in MENTIONS.items():
            if back:
                share = found[SCORES].groupby("type")["coverage"].first()[kind]
                note = f" Counted: {share:.1%} of the coreferent mentions."
            found_by = {rule: rules[rule, kind] for rule in BASELINES}
            best = max(found_by, key=found_by.__getitem__)
            shares = [f"the {BASELINES[rule]} ({100 * n:.1f}%)" for rule, n in found_by.items()]
            yield SCORES.form(
                f"coreference.{candidates}.{kind}",
                f"Coreference accuracy, {words}, among {among}",
                f"How often the head word of a coreferent mention ({words}) attends most, among "
                f"{among}, to the head word of an antecedent.{note} {corpus} Baseline: the better "
                f"of {' and '.join(shares)}. {OVER_DOCUMENTS}",
                {"candidates": candidates, "type": kind},
                null=RULES.rows(system=best, type=kind),
                null_title=BASELINES[best],
                without=bool(pd.isna(found_by[best])),
            )


# What a head is, by its columns.
HEAD_KINDS = {"coreference": lambda head, _: head["coreference_head"]}


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
