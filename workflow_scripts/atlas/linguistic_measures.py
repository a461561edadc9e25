"""What Clark et al. (2019) measure of a head as a parser and as a selector of antecedents."""

from collections.abc import Iterator

import pandas as pd

from workflow_scripts.core.measures.forms import (
    INTERVAL,
    OVER_DOCUMENTS,
    SHARE,
    Form,
    Rows,
    Study,
    identifier,
)
from workflow_scripts.core.measures.tables import KEYS, Columns, Tables, number, whole

PAPER = "clark2019"
SCORES, OFFSETS = "syntax/scores.parquet", "syntax/offsets.parquet"
ANTECEDENTS, RULES = "coreference/scores.parquet", "coreference/rules.parquet"
# Not a relation: all words together; and a relation without syntax, as in Table 1.
ALL, PUNCTUATION = "all", "punct"
MENTIONS = {"all": "all mentions", "pronoun": "pronouns", "proper": "names", "nominal": "nouns"}
CANDIDATES = {"words": "all other words", "mentions": "the earlier mentions"}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    if SCORES in found and OFFSETS in found:
        yield from syntax(found, study)
    if ANTECEDENTS in found and RULES in found:
        yield from coreference(found, study)


def best_offsets(found: Tables) -> pd.DataFrame:
    """Offset and accuracy of the best fixed offset, a row by relation; the first of equals."""
    known = found[OFFSETS].dropna(subset=["accuracy"])
    return known.loc[known.groupby("relation")["accuracy"].idxmax()].set_index("relation")


def shown_relations(found: Tables, study: Study) -> list[str]:
    """The relations with enough words, the most frequent first, without punctuation."""
    counts = found[SCORES].drop_duplicates("relation").set_index("relation")["n"]
    enough = counts[(counts >= study.fewest) & counts.index.isin(best_offsets(found).index)]
    order = enough.sort_values(ascending=False, kind="stable")
    return [name for name in order.index if name != PUNCTUATION]


def syntax(found: Tables, study: Study) -> Iterator[Form]:
    """The relation that a head is best at, and its accuracy at every relation."""
    trees = f"On the treebank {study.corpora.get('syntax')}.{study.note('trees')}"
    relations, offsets = shown_relations(found, study), best_offsets(found)
    chosen = [name for name in relations if name != ALL]
    place = {"paper": PAPER, "group": "Syntax"}
    if chosen:
        yield Form(
            "syntax.best",
            "Best relation, above its offset",
            "Accuracy at the relation at which the head exceeds the best fixed offset most, minus "
            f"that offset's accuracy; of {len(chosen)} relations in both directions. {trees} "
            "Interval: that of the accuracy, 95%, bootstrap over documents. It covers neither the "
            "choice among the relations, which favours the head, nor the offset's own error.",
            Rows(SCORES, "accuracy", factor=100),
            unit="points",
            scale="diverging",
            decimals=1,
            better="high",
            null=0,
            null_title="best fixed offset",
            compute=lambda tables: best_relation(tables, chosen),
            derived="per head the largest of accuracy minus the best fixed offset's accuracy "
            f"(column accuracy of {OFFSETS}) over directions and relations",
            **place,
        )
    for name in relations:
        offset = int(offsets.loc[name, "offset"])
        of = "words" if name == ALL else f"words in the relation {name}"
        yield Form(
            f"syntax.{identifier(name)}",
            "All relations" if name == ALL else f"Relation {name}",
            f"How often the attention head is right about {of}: the word that the dependent "
            "attends to most is its syntactic head, or, in the other direction, the word that the "
            "syntactic head attends to most is the dependent. The better direction of each "
            f"attention head counts, and is named. {trees} {OVER_DOCUMENTS} It does not cover the "
            "choice of the direction.",
            Rows(
                SCORES,
                "accuracy",
                {"relation": name},
                100,
                INTERVAL | {"label": "direction"},
                largest=True,
            ),
            null=Rows(OFFSETS, "accuracy", {"relation": name, "offset": offset}, 100),
            null_title=f"best fixed offset, {offset:+d}",
            better="high",
            **SHARE,
            **place,
        )


def best_relation(found: Tables, relations: list[str]) -> Columns:
    """For each head the relation, of `relations`, with the largest margin above its offset."""
    frame = found[SCORES]
    frame = frame[frame["relation"].isin(relations)].dropna(subset=["accuracy"])
    base = frame["relation"].map(best_offsets(found)["accuracy"])
    ends = {"value": "accuracy", "low": "ci_low", "high": "ci_high"}
    frame = frame.assign(**{name: frame[column] - base for name, column in ends.items()})
    best = frame.loc[frame.groupby(KEYS)["value"].idxmax()]
    columns: Columns = {
        name: [number(cell, 100) for cell in found.per_head(best, name)] for name in ends
    }
    columns["n"] = whole(found.per_head(best, "n"))
    return columns | {"label": found.per_head(best, "relation")}


def coreference(found: Tables, study: Study) -> Iterator[Form]:
    """How often the word that a mention attends to most is the head of an antecedent."""
    rules = found[RULES].set_index(["system", "type"])["accuracy"]
    corpus = f"On the corpus {study.corpora.get('coreference')}.{study.note('mentions')}"
    for candidates, among in CANDIDATES.items():
        for kind, words in MENTIONS.items():
            nearest = {"system": "nearest", "type": kind}
            yield Form(
                f"coreference.{candidates}.{kind}",
                f"Antecedents of {words}, among {among}",
                f"How often the head word of a coreferent mention ({words}) attends most, among "
                f"{among}, to the head word of an antecedent. {corpus} Matching the head words "
                f"of mentions finds {100 * rules['head_match', kind]:.1f}%. {OVER_DOCUMENTS}",
                Rows(ANTECEDENTS, "accuracy", {"candidates": candidates, "type": kind}, 100),
                null=Rows(RULES, "accuracy", nearest, 100),
                null_title="nearest mention",
                without=bool(pd.isna(rules["nearest", kind])),
                paper=PAPER,
                group="Coreference",
                better="high",
                **SHARE,
            )
