"""Our numbers for the claims of Clark et al. 2019 on syntax and coreference (sections 4 and 5)."""

from dataclasses import replace

import numpy as np
import pandas as pd

from workflow_scripts.claims.intervals import (
    BOUNDS,
    OVER_DOCUMENTS,
    counted,
    in_percent,
    share,
)
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.stats.sign_flips import holm
from workflow_scripts.syntax.measures import SCORES

# The relations of the paper's Table 1 other than `all`.
RELATIONS = "prep pobj det nn nsubj amod dobj advmod aux poss auxpass ccomp mark prt".split()
LEVEL = 0.05  # of tests over all relations together
LEAST_GAIN = 0.2  # points: of nn, the smallest of the paper's Table 1


def relation(products: Products, of: str) -> list[Measured]:
    """Accuracy in percent of the best head for a relation; the reference is our best offset."""
    row = products.row("clark2019-table1", relation=of)
    number = row["accuracy"], row["ci_low"], row["ci_high"]
    about = f"{row['head']}, offset {row['offset']:+.0f}: {row['baseline']:.1f}"
    measured = Measured(*number, int(row["n"]), "words", reference=row["baseline"], about=about)
    return [replace(measured, interval=OVER_DOCUMENTS)]


def relation_head_gain(products: Products, of: str) -> list[Measured]:
    """Points by which the best head over all relations beats the best offset.

    Both are chosen on one half of the documents and measured on the other, both ways.
    """
    row = products.row("clark2019-table1", relation="all")
    number = (row[f"held_out_gain{end}"] for end in ("", "_low", "_high"))
    about = str(row["head"])
    return [Measured(*number, int(row["n"]), "words", about=about, interval=OVER_DOCUMENTS)]


def relations_beyond_offset(products: Products, of: str) -> list[Measured]:
    """Percent of the paper's relations that have a head which beats the best offset.

    Heads and offsets are measured on documents that did not choose them. The lower bound counts
    the relations where the head is better, with p-values corrected for the number of relations
    (Holm); the upper one those, too, whose interval reaches beyond LEAST_GAIN.
    """
    rows = _relations(products)
    gain, found = rows["held_out_gain"], holm(rows["held_out_gain_p"]) < LEVEL
    sure = found & (gain > 0)
    possible = sure | ~(rows["held_out_gain_high"] <= LEAST_GAIN)
    number = counted(sure, possible & (gain > 0), possible)
    short = rows["relation"][~sure.to_numpy()]
    about = f"not shown for {', '.join(short)}" if len(short) else ""
    return [replace(in_percent(number), of="relations", about=about, interval=BOUNDS)]


def relations_above(products: Products, of: str) -> list[Measured]:
    """How many of some relations have a head that is not below an accuracy, up to a margin.

    `of` is like "75 1.5 dobj det", the margin after the accuracy. For sure are those whose interval
    reaches the accuracy, and no farther below it than the margin; possible are all that reach it.
    Raises NotMeasured where the study's trees lack one of them: it has not failed.
    """
    bound, margin, *names = of.split()
    rows = _relations(products)
    rows = rows[rows["relation"].isin(names)]
    if lacking := sorted(set(names) - set(rows["relation"])):
        raise NotMeasured(f"clark2019-table1 has no {', '.join(lacking)}")
    possible = rows["ci_high"] >= float(bound)
    sure = possible & (rows["ci_low"] >= float(bound) - float(margin))
    number = counted(sure, sure | (rows["accuracy"] >= float(bound)), possible)
    about = ", ".join(rows["relation"])
    return [replace(number, of="relations", about=about, interval=BOUNDS)]


def dependents_attend(products: Products, of: str) -> list[Measured]:
    """Percent of the paper's relations whose best head looks in the paper's direction.

    From the dependent to its head word, for pobj the other way round. The bounds are the relations
    where the intervals of the two directions' best heads lie apart, and where they do not lie the
    wrong way round.
    """
    scores, names = products[SCORES], list(_relations(products)["relation"])
    pairs = []
    for name in names:
        rows = scores[scores["relation"] == name]
        upwards = rows["direction"] == "dependent_to_head"
        ours, other = (
            part.loc[part["accuracy"].idxmax()]
            for part in (rows[upwards ^ (name == "pobj")], rows[upwards ^ (name != "pobj")])
        )
        pairs.append((ours, other))
    number = counted(
        [ours["ci_low"] > other["ci_high"] for ours, other in pairs],
        [ours["accuracy"] > other["accuracy"] for ours, other in pairs],
        [not ours["ci_high"] < other["ci_low"] for ours, other in pairs],
    )
    turned = [
        name
        for name, (ours, other) in zip(names, pairs, strict=True)
        if ours["accuracy"] <= other["accuracy"]
    ]
    about = f"the other way round: {', '.join(turned)}" if turned else ""
    return [replace(in_percent(number), of="relations", about=about, interval=BOUNDS)]


def split_words(products: Products, of: str) -> list[Measured]:
    """Percent of the words that the tokenizer splits."""
    row = products.row("clark2019-table1", relation="all")
    ends = share(round(row["split_words"] / 100 * row["n"]), int(row["n"]))
    words = "95% over words, as if of documents of their own"
    return [Measured(row["split_words"], *ends, int(row["n"]), "words", interval=words)]


def special_tokens_kept(products: Products, of: str) -> list[Measured]:
    """Percent of relations whose accuracy moves by less than `of` points for the median head.

    With [CLS] and [SEP] among the candidates, which can only take words from what is right: the
    change is a share of the words. The bounds count the relations by the ends of its interval.
    """
    rows, most = _relations(products), float(of)
    lost = -rows["with_special_median_change"]
    shares = [share(round(loss / 100 * n), n) for loss, n in zip(lost, rows["n"], strict=True)]
    low, high = np.array(shares).T
    number = in_percent(counted(high < most, lost < most, low < most))
    words = "bounds of the count, by 95% over words, as if of documents of their own"
    return [replace(number, of="relations", interval=words)]


def _relations(products: Products) -> pd.DataFrame:
    table = products["clark2019-table1"]
    return table[table["relation"].isin(RELATIONS)]


def antecedents(products: Products, of: str) -> list[Measured]:
    """Accuracy in percent of a system of Table 2; `of` is like "best head: all".

    The reference of a rule is the nearest mention, that of the head a matching head word.
    """
    system, kind = of.split(": ")
    number = _antecedents(products, system, kind)
    weaker = {"best head": "head word match", "nearest mention": ""}.get(system, "nearest mention")
    reference = _antecedents(products, weaker, kind).value if weaker else None
    return [replace(number, reference=reference)]


def antecedent_gain(products: Products, of: str) -> list[Measured]:
    """Points by which the best head, chosen on other documents, beats a rule of Table 2.

    `of` names the rule as the table's columns do: head_match or rules.
    """
    row = _antecedent_row(products, "best head", "all")
    number = (row[f"gain_{of}{end}"] for end in ("", "_low", "_high"))
    about = str(row["held_out_head"])
    return [Measured(*number, int(row["n"]), "mentions", about=about, interval=OVER_DOCUMENTS)]


def _antecedents(products: Products, system: str, kind: str) -> Measured:
    row = _antecedent_row(products, system, kind)
    number = row["accuracy"], row["ci_low"], row["ci_high"]
    about = str(row["head"]) if system == "best head" else ""
    return Measured(*number, int(row["n"]), "mentions", about=about, interval=OVER_DOCUMENTS)


def _antecedent_row(products: Products, system: str, kind: str) -> pd.Series:
    return products.row("clark2019-table2", compared=True, type=kind, system=system)


def probe(products: Products, of: str) -> list[Measured]:
    """UAS (UUAS of the structural probe) of a probe; the reference is our right-branching one."""
    row = products.row("clark2019-table3", probe=of)
    branching = products.row("clark2019-table3", probe="right-branching")["score"]
    reference = None if of == "right-branching" else branching
    number = row["score"], row["ci_low"], row["ci_high"]
    measured = Measured(*number, int(row["n"]), "words", reference=reference, about=row["measure"])
    return [replace(measured, interval=OVER_DOCUMENTS)]


def probe_gain(products: Products, of: str) -> list[Measured]:
    """Points by which one probe beats another; `of` is like "UAS one over other".

    The interval is over documents, the same for both probes.
    """
    measure, one, _, other = of.split()
    pairs = products.rows("clark2019-probe-pairs", measure=measure)
    for sign, names in ((1, (one, other)), (-1, (other, one))):
        rows = pairs[(pairs["probe"] == names[0]) & (pairs["other"] == names[1])]
        if len(rows):
            row = rows.iloc[0]
            ends = sorted((sign * row["ci_low"], sign * row["ci_high"]))
            about = f"{row['n_documents']} documents"
            number = Measured(sign * row["difference"], *ends, int(row["n"]), "words", about=about)
            return [replace(number, interval=OVER_DOCUMENTS)]
    return []


MEASURES = (
    relation,
    relation_head_gain,
    relations_beyond_offset,
    relations_above,
    dependents_attend,
    split_words,
    special_tokens_kept,
    antecedents,
    antecedent_gain,
    probe,
    probe_gain,
)
