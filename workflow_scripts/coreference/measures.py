"""What the tables of antecedents hold, and the measures of heads that they give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.data.tables import where
from workflow_scripts.core.measures.forms import (
    KEYS,
    OVER_DOCUMENTS,
    PERCENT,
    Form,
    HeadKind,
    Study,
    Table,
    Tables,
    TableSet,
)
from workflow_scripts.core.stats.randomisation import best_above_baseline
from workflow_scripts.coreference.antecedents import OTHER_WORD

DATA = ("mentions", "Coreferent mentions")
SCORES = Table(
    "coreference/scores.parquet",
    value="accuracy",
    n_of="mentions",
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
MENTIONS |= {OTHER_WORD: "mentions whose antecedents are other words"}
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
HEAD_KINDS = {
    "coreference": HeadKind(
        lambda head, _: head["coreference_head"],
        "mentions",
        "it is the best head at finding antecedents of mentions none of whose antecedents has "
        "their head word, and beats the nearest mention",
    )
}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: how often it finds antecedents of mentions of another word than all of these.

    The head's candidates are all other words. `antecedents` is its accuracy, `antecedents_above` by
    how much it exceeds the better of BASELINES, `coreference_head` whether no other head is better
    and the difference is more than chance, corrected for all heads. None where the study has fewer
    than `settings["fewest"]` such mentions.
    """
    if SCORES not in found or RULES not in found:
        return None
    frame = of_other_words(found).dropna(subset=["accuracy", "baseline"])
    frame = frame[frame["n"] >= settings["fewest"]]
    if frame.empty:
        return None
    frame["antecedents_above"] = frame["accuracy"] - frame["baseline"]
    frame["coreference_head"] = best_above_baseline(frame, "type")
    frame = frame.rename(columns={"accuracy": "antecedents"})
    return frame[[*KEYS, "antecedents", "antecedents_above", "coreference_head"]]


def of_other_words(found: TableSet) -> pd.DataFrame:
    """Each head's score among all other words on mentions of another word, with its `baseline`.

    A head that looks for copies of a word does not find these antecedents.
    """
    scores = where(found[SCORES], candidates="words", type=OTHER_WORD)
    rules = where(found[RULES], type=OTHER_WORD)
    return scores.assign(baseline=rules[rules["system"].isin(BASELINES)]["accuracy"].max())


def best_heads(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """The best head for mentions of another word than their antecedents."""
    if SCORES not in found or RULES not in found:
        return None
    known = of_other_words(found).dropna(subset=["accuracy"])
    return known.nlargest(1, "accuracy").assign(behaviour="coreference")
