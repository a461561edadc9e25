"""What the tables of heads as parsers hold, and the measures of heads that they give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.measures.forms import (
    KEYS,
    NO_INTERVAL,
    OVER_DOCUMENTS,
    PERCENT,
    Columns,
    Form,
    HeadKind,
    Study,
    Table,
    Tables,
    TableSet,
    identifier,
    number,
    whole,
)
from workflow_scripts.core.stats.randomisation import best_above_baseline

DATA = ("trees", "Dependency trees")
SCORES = Table(
    "syntax/scores.parquet",
    value="accuracy",
    n_of="words",
    keys=("direction", "relation"),
    label="direction",
    largest=True,
    **PERCENT,
    better="high",
    paper="clark2019",
    group="Syntax",
)
BEST = replace(
    SCORES,
    null=0,
    null_title="best fixed offset",
    unit="points",
    scale="diverging",
)
# Of no attention head.
OFFSETS = Table(
    "syntax/offsets.parquet",
    value="accuracy",
    keys=("offset", "relation"),
    **NO_INTERVAL,
    **PERCENT,
)
# For a decoder, where each direction has words of its own.
BACK = {
    "dependent_to_head": "the head word on its left",
    "head_to_dependent": "the dependent on its left",
}
# Not a relation: all words together; and a relation without syntax, as in Table 1.
ALL, PUNCTUATION = "all", "punct"
LEFTWARDS = ", each over words whose target is to their left"


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The relation that a head is best at, and its accuracy at every relation."""
    if SCORES not in found or OFFSETS not in found:
        return
    largest = found[OFFSETS]["offset"].abs().max()
    trees = f"Fixed offsets are of up to {largest} words. On the treebank "
    trees += f"{study.corpora.get('syntax')}.{study.note('trees')}"
    relations, offsets = shown_relations(found, study), best_offsets(found)
    back = "coverage" in found[SCORES]
    chosen = [name for name in relations if name != ALL]
    if chosen:
        yield BEST.form(
            "syntax.best",
            "Best dependency relation: gain over positional baseline",
            "Each head's best relation: accuracy minus the accuracy of the best fixed offset. Best "
            f"of {len(chosen)} relations in both directions{LEFTWARDS if back else ''}. {trees} "
            "Interval: that of the accuracy, 95%, bootstrap over documents. It covers neither the "
            "selection of the relation, which favours the head, nor the offset's own error.",
            compute=lambda tables: best_relation(tables, chosen),
            derived="per head the largest of accuracy minus the best fixed offset's accuracy "
            f"(column accuracy of {OFFSETS.file}) over directions and relations",
        )
    if back:
        yield from decoder_forms(found, relations, trees)
        return
    for name in relations:
        offset = int(offsets.loc[name, "offset"])
        of = "words" if name == ALL else f"words in the relation {name}"
        yield SCORES.form(
            f"syntax.{identifier(name)}",
            "All relations" if name == ALL else f"Relation {name}",
            f"Accuracy for {of}: how often the word that the dependent attends to most is its "
            "syntactic head or, in the other direction, the word that the syntactic head attends "
            "to most is the dependent. The better of the two directions is used and named. "
            f"{trees} {OVER_DOCUMENTS} It does not cover the selection of the direction.",
            {"relation": name},
            null=OFFSETS.rows(relation=name, offset=offset),
            null_title=f"best fixed offset, {offset:+d}",
        )


def decoder_forms(found: Tables, relations: list[str], trees: str) -> Iterator[Form]:
    """The accuracies of a decoder's heads: each direction apart, with its coverage."""
    offsets, scores = best_offsets(found), found[SCORES].drop_duplicates(["relation", "direction"])
    coverage = scores.set_index(["relation", "direction"])["coverage"]
    for name in relations:
        for direction, target in BACK.items():
            if (name, direction) not in offsets.index:
                continue
            offset, share = int(offsets.loc[(name, direction), "offset"]), coverage[name, direction]
            of = "All relations" if name == ALL else f"Relation {name}"
            where = {"relation": name, "direction": direction}
            yield replace(SCORES, largest=False).form(
                f"syntax.{identifier(name)}.{direction}",
                f"{of}, {target}",
                f"How often the word that a word attends to most, of those before it, is {target}; "
                f"its last wordpiece asks, and the first word is no candidate. Counted: "
                f"{share:.1%} of the treebank's pairs. {trees} {OVER_DOCUMENTS}",
                where,
                null=OFFSETS.rows(**where, offset=offset),
                null_title=f"best negative offset, {offset:+d}",
            )


def best_offsets(found: Tables) -> pd.DataFrame:
    """Offset and accuracy of the best fixed offset, a row by relation; the first of equals.

    For a decoder, whose offsets are negative, a row by relation and direction.
    """
    known = found[OFFSETS].dropna(subset=["accuracy"])
    keys = ["relation", *(["direction"] if "direction" in known else [])]
    return known.loc[known.groupby(keys)["accuracy"].idxmax()].set_index(keys)


def baselines(found: TableSet, scores: pd.DataFrame) -> pd.Series:
    """The accuracy of the best fixed offset for each row of the scores."""
    best = best_offsets(found)["accuracy"]
    keys = scores.set_index(best.index.names).index
    return pd.Series(best.reindex(keys).to_numpy(), index=scores.index)


def shown_relations(found: Tables, study: Study) -> list[str]:
    """The relations with enough words, the most frequent first, without punctuation."""
    counts = found[SCORES].groupby("relation", sort=False)["n"].max()
    known = best_offsets(found).index.get_level_values("relation")
    enough = counts[(counts >= study.fewest) & counts.index.isin(known)]
    order = enough.sort_values(ascending=False, kind="stable")
    return [name for name in order.index if name != PUNCTUATION]


def best_relation(found: Tables, relations: list[str]) -> Columns:
    """For each head the relation, of `relations`, with the largest margin above its offset."""
    frame = found[SCORES]
    frame = frame[frame["relation"].isin(relations)].dropna(subset=["accuracy"])
    base = baselines(found, frame)
    ends = {"value": "accuracy", "low": "ci_low", "high": "ci_high"}
    frame = frame.assign(**{name: frame[column] - base for name, column in ends.items()})
    best = frame.loc[frame.groupby(KEYS)["value"].idxmax()]
    columns: Columns = {
        name: [number(cell, 100) for cell in found.per_head(best, name)] for name in ends
    }
    columns["n"] = whole(found.per_head(best, "n"))
    return columns | {"label": found.per_head(best, "relation")}


# What a head is, by its columns.
HEAD_KINDS = {
    "syntactic": HeadKind(
        lambda head, _: head["syntactic"],
        "trees",
        "it is the best head for at least one relation and beats that relation's best fixed "
        "offset, corrected for all heads and relations",
    )
}


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
