"""Our numbers for the claims of Clark et al. 2019."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.claims.numbers import (
    BOUNDS,
    OVER_DOCUMENTS,
    counted,
    in_percent,
    over_units,
    row_number,
    share,
)
from workflow_scripts.claims.products import NotMeasured, Products, at_depth, layers_of, measure
from workflow_scripts.claims.verdicts import PREMISE_ABSENT, Measured
from workflow_scripts.clusters.measures import EMBEDDING
from workflow_scripts.core.data.heads import head_label, head_labels
from workflow_scripts.core.stats.randomisation import holm
from workflow_scripts.surface.measures import ENTROPY, GRADIENTS, POSITION, SPECIAL_TOKENS
from workflow_scripts.syntax.measures import SCORES

FEWEST_HEADS = 4  # whose layers are judged
HALF = 0.5  # of its attention: what a head rests on gets more
# The relations of the paper's Table 1 other than `all`.
RELATIONS = "prep pobj det nn nsubj amod dobj advmod aux poss auxpass ccomp mark prt".split()
LEVEL = 0.05  # of tests over all relations together
LEAST_GAIN = 0.2  # points: of nn, the smallest of the paper's Table 1
TABLE1, TABLE2, TABLE3 = (f"clark2019-table{n}" for n in (1, 2, 3))


@measure(SPECIAL_TOKENS)
def special_attention(
    products: Products, target: str, first_layer: int, last_layer: int
) -> Measured:
    """Mean attention in percent to a target of Figure 2."""
    rows = at_depth(products.rows(SPECIAL_TOKENS, target=target), first_layer, last_layer)
    token, _, from_it = target.partition("_to_")
    more = {"case": layers_of(rows), "because": no_head_rests(products, token) if from_it else ""}
    return over_units(rows, "segments", scale=100, **more)


def no_head_rests(products: Products, token: str) -> str:
    """Why a claim on heads that rest on a special token has no such head; else empty.

    They give it more than half of their attention. Clark et al. speak of such heads alone.
    """
    rows = products.rows(SPECIAL_TOKENS, target=token)
    most = rows.loc[rows["attention"].idxmax()]
    if most["attention"] > HALF:
        return ""
    head, share = head_label(int(most["layer"]), int(most["head"])), 100 * most["attention"]
    return f"{PREMISE_ABSENT}: no head rests on [{token.upper()}], at most {share:.1f}% by {head}"


@measure(SPECIAL_TOKENS)
def more_attention_below(
    products: Products,
    target: str,
    first_layer: int,
    last_layer: int,
    other_first: int,
    other_last: int,
) -> Measured:
    """Points of attention that some layers give to a target of Figure 2 more than others do."""
    rows = products.rows(SPECIAL_TOKENS, target=target)
    parts = [at_depth(rows, *e) for e in ((first_layer, last_layer), (other_first, other_last))]
    about = (f"{layers_of(part)}: {100 * part['attention'].mean():.1f}" for part in parts)
    return over_units(parts[0], "segments", less=parts[1], scale=100, about=", ".join(about))


@measure(POSITION)
def heads_above_half(products: Products, target: str) -> Measured:
    """How many heads give more than half of their attention to the previous or next token."""
    rows = products.rows(POSITION, target=target)
    sure, above, possible = _above_half(rows)
    return counted(sure, above, possible, "heads", about=" ".join(head_labels(rows[above])))


def _above_half(rows: pd.DataFrame) -> list[pd.Series]:
    return [rows[name] > 0.5 for name in ("ci_low", "attention", "ci_high")]


@measure(POSITION)
def heads_in_first_half(products: Products, target: tuple[str, ...]) -> Measured | None:
    """Percent, in the first half of the layers, of the heads with more than half on a neighbour.

    The bounds count heads whose interval holds a half where they lower or raise the share. Fewer
    heads than FEWEST_HEADS have no bounds: where one or two heads are says nothing about where such
    heads are.
    """
    rows = products[POSITION]
    rows = rows[rows["target"].isin(target)]
    early = (rows["layer"] + 0.5) / (rows["layer"].max() + 1) < 0.5
    sure, above, possible = _above_half(rows)
    if not above.any():
        return None
    least, most = (sure & early) | (possible & ~early), (possible & early) | (sure & ~early)
    value, low, high = (
        100 * early[heads].mean() if heads.any() else if_none
        for heads, if_none in ((above, 0), (least, 100), (most, 0))
    )
    n, about = int(above.sum()), " ".join(head_labels(rows[above]))
    if n < FEWEST_HEADS:
        about += f": too few heads to tell, fewer than {FEWEST_HEADS}"
        return Measured(value, math.nan, math.nan, n, "heads", about=about)
    return Measured(value, low, high, n, "heads", about=about, interval=BOUNDS)


@measure(POSITION)
def little_attention_to_self(products: Products, most: float) -> Measured:
    """Percent of heads that give the token itself less than a share of their attention."""
    rows = products.rows(POSITION, target="self")
    below = (rows[name] < most for name in ("ci_high", "attention", "ci_low"))
    return in_percent(counted(*below, "heads"))


@measure(GRADIENTS, SPECIAL_TOKENS)
def gradient_ratio(products: Products, target: str) -> Measured:
    """Gradient of attention to a target of Figure 3 over that to all tokens, layers 5 to 12.

    The target may be "most attended": the special token that those layers attend to most.
    """
    gradients = at_depth(products[GRADIENTS], 5, 12)
    if target == "most attended":
        attention = at_depth(products[SPECIAL_TOKENS], 5, 12)
        attention = attention[attention["target"].isin(["cls", "sep"])]
        target = str(attention.groupby("target")["attention"].mean().idxmax())
    one, every = (gradients[gradients["target"] == name] for name in (target, "unmasked"))
    head = gradients["masked_lm_head"].iloc[0]
    about = f"{target}, {layers_of(gradients)}, {head} head"
    return over_units(one, "segments", over=every, about=about, own_head=head == "own")


@measure(ENTROPY)
def broadest_in_first_layer(products: Products) -> Measured:
    """Entropy, in nats, of the broadest head of layer 1 minus that of the broadest head above."""
    rows = products.rows(ENTROPY, query="all")
    groups = rows[rows["layer"] == 0], rows[rows["layer"] > 0]
    first, above = (group.loc[[group["entropy"].idxmax()]] for group in groups)
    about = f"{head_labels(first)[0]} and {head_labels(above)[0]}"
    return over_units(first, "segments", less=above, about=about)


@measure(ENTROPY)
def entropy_from_cls(products: Products) -> Measured:
    """Entropy, in nats, of attention from [CLS] in the last layer; the reference: other layers."""
    rows = products.rows(ENTROPY, query="cls")
    last = rows["layer"] == rows["layer"].max()
    others = float(rows.loc[~last, "entropy"].mean())
    return over_units(rows[last], "segments", reference=others)


@measure("clark2019-broad", ENTROPY)
def no_weight_above_tenth(products: Products) -> Measured | None:
    """Percent of the queries of broad heads whose largest weight is 10% or less."""
    broad = products["clark2019-broad"]["head"]
    if broad.empty:
        return None
    rows = products.rows(ENTROPY, query="all")
    rows = rows[np.isin(head_labels(rows), broad)]
    about = f"{len(broad)} heads, {broad.iloc[0]} the broadest"
    return over_units(rows, "segments", sums="at_most_tenth_sums", scale=100, about=about)


@measure("clark2019-clusters", EMBEDDING)
def closer_within_layers(products: Products) -> Measured:
    """How much closer, in percent of the mean distance, heads of one layer are than others.

    Both ends lie above 0 where the permutation test finds that heads of one layer are closer.
    """
    row = products.row("clark2019-clusters", layer="all")
    value, scale = row["difference"], 100 / row["between"]
    ends = (scale * (value - row[f"shuffled_{end}"]) for end in ("high", "low"))
    n, p = len(products[EMBEDDING]), f"one-sided p = {row['p']:.2g}"
    shuffled = "permutation interval (null percentiles subtracted)"
    return Measured(scale * value, *ends, n, "heads", about=p, interval=shuffled)


@measure(TABLE1)
def relation(products: Products, relation: str) -> Measured:
    """Accuracy in percent of the best head for a relation; the reference is our best offset."""
    row = products.row(TABLE1, relation=relation)
    about = f"{row['head']}, offset {row['offset']:+.0f}: {row['baseline']:.1f}"
    return _of_row(row, "accuracy", about=about, reference=row["baseline"])


@measure(TABLE1)
def relation_head_gain(products: Products) -> Measured:
    """Points by which the best head over all relations beats the best offset, both chosen apart."""
    row = products.row(TABLE1, relation="all")
    return _of_row(row, "held_out_gain", about=row["head"])


@measure(TABLE1)
def relations_beyond_offset(products: Products) -> Measured:
    """Percent of the paper's relations that have a head which beats the best offset.

    The lower bound counts the relations where the head is better, with p-values corrected for the
    number of relations (Holm); the upper one those, too, whose interval reaches beyond LEAST_GAIN.
    """
    rows = _relations(products)
    gain, found = rows["held_out_gain"], holm(rows["held_out_gain_p"]) < LEVEL
    sure = found & (gain > 0)
    possible = sure | ~(rows["held_out_gain_high"] <= LEAST_GAIN)
    lacking = _names("the trees have none of", sorted({*RELATIONS} - {*rows["relation"]}))
    about = _names("not shown for", rows["relation"][~sure.to_numpy()])
    about = "; ".join(filter(None, (lacking, about)))
    return in_percent(counted(sure, possible & (gain > 0), possible, "relations", about=about))


@measure(TABLE1)
def relations_above(
    products: Products, least: float, margin: float, relation: tuple[str, ...]
) -> Measured:
    """How many of some relations have a head that is not below an accuracy, up to a margin.

    For sure are those whose interval reaches the accuracy, and no farther below it than the margin;
    possible are all that reach it. Raises NotMeasured where the study's trees lack one of them: it
    has not failed.
    """
    rows = _relations(products)
    rows = rows[rows["relation"].isin(relation)]
    if lacking := sorted(set(relation) - set(rows["relation"])):
        raise NotMeasured(f"{TABLE1} has no {', '.join(lacking)}")
    possible = rows["ci_high"] >= least
    sure = possible & (rows["ci_low"] >= least - margin)
    reached = sure | (rows["accuracy"] >= least)
    return counted(sure, reached, possible, "relations", about=", ".join(rows["relation"]))


@measure(SCORES, TABLE1)
def dependents_attend(products: Products) -> Measured:
    """Percent of the paper's relations whose best head looks in the paper's direction.

    That is from the dependent to its head word, for pobj the other way round. The bounds are by
    whether the intervals of the two directions' best heads lie apart.
    """
    scores, names = products[SCORES], _relations(products)["relation"]
    wanted = (scores["direction"] == "dependent_to_head") ^ (scores["relation"] == "pobj")
    ours, other = (
        part.loc[part.groupby("relation")["accuracy"].idxmax()].set_index("relation").loc[names]
        for part in (scores[wanted], scores[~wanted])
    )
    better = ours["accuracy"] > other["accuracy"]
    sure, possible = ours["ci_low"] > other["ci_high"], ~(ours["ci_high"] < other["ci_low"])
    about = _names("the other way round:", better.index[~better])
    return in_percent(counted(sure, better, possible, "relations", about=about))


@measure(TABLE1)
def split_words(products: Products) -> Measured:
    """Percent of the words that the tokenizer splits."""
    row = products.row(TABLE1, relation="all")
    ends = share(round(row["split_words"] / 100 * row["n"]), int(row["n"]))
    words = "95% over words, as if of documents of their own"
    return Measured(row["split_words"], *ends, int(row["n"]), "words", interval=words)


@measure(TABLE1)
def special_tokens_kept(products: Products, most: float) -> Measured:
    """Percent of relations whose accuracy moves by less than `most` points for the median head.

    With [CLS] and [SEP] among the candidates, which can only take words from what is right: the
    change is a share of the words.
    """
    rows = _relations(products)
    lost = -rows["with_special_median_change"]
    shares = [share(round(loss / 100 * n), n) for loss, n in zip(lost, rows["n"], strict=True)]
    low, high = np.array(shares).T
    words = "bounds of the count, by 95% over words, as if of documents of their own"
    below = (loss < most for loss in (high, lost, low))
    return in_percent(counted(*below, "relations", interval=words))


def _of_row(row: pd.Series, name: str, of: str = "words", **more: Any) -> Measured:
    return row_number(row, name, of, interval=OVER_DOCUMENTS, **more)


def _relations(products: Products) -> pd.DataFrame:
    table = products[TABLE1]
    return table[table["relation"].isin(RELATIONS)]


def _names(words: str, relations: Sequence[str]) -> str:
    """Relations after the words for them; nothing where there is none."""
    return f"{words} {', '.join(relations)}" if len(relations) else ""


@measure(TABLE2)
def antecedents(products: Products, system: str, mentions: str) -> Measured:
    """Accuracy in percent of a system of Table 2 on `all` mentions or those of a type.

    The reference of a rule is the nearest mention, that of the head a matching head word. The head
    is chosen and measured on the same documents, as in the paper.
    """
    wanted = {"compared": True, "type": mentions}
    row = products.row(TABLE2, system=system, **wanted)
    weaker = {"best head": "head word match", "nearest mention": ""}.get(system, "nearest mention")
    more = {}
    if weaker:
        more["reference"] = products.row(TABLE2, system=weaker, **wanted)["accuracy"]
    number = _of_row(row, "accuracy", "mentions", **more)
    if system != "best head":
        return number
    held_out = f"{row['held_out_accuracy']:.1f}% by {row['held_out_head']} on documents that did "
    about = f"{held_out}not choose it; in sample by {row['head']}"
    return replace(number, about=about, interval=f"{OVER_DOCUMENTS}, of the chosen head alone")


@measure(TABLE2)
def antecedent_gain(products: Products, other: str) -> Measured:
    """Points by which the best head, chosen on other documents, beats a rule of Table 2.

    `other` names the rule as the table's columns do: head_match or rules.
    """
    row = products.row(TABLE2, compared=True, type="all", system="best head")
    return _of_row(row, f"gain_{other}", "mentions", about=row["held_out_head"])


@measure(TABLE3)
def probe(products: Products, probe: str) -> Measured:
    """UAS (UUAS of the structural probe) of a probe; the reference is our right-branching one."""
    row = products.row(TABLE3, probe=probe)
    branching = products.row(TABLE3, probe="right-branching")["score"]
    reference = None if probe == "right-branching" else branching
    return _of_row(row, "score", about=row["measure"], reference=reference)


@measure("clark2019-probe-pairs")
def probe_gain(products: Products, metric: str, probe: str, other: str) -> Measured | None:
    """Points of UAS or UUAS by which one probe beats another, on the same documents."""
    pairs = products.rows("clark2019-probe-pairs", measure=metric)
    rows = pairs[pairs[["probe", "other"]].isin([probe, other]).all(axis=1)]
    if rows.empty:
        return None
    row = rows.iloc[0]
    number = _of_row(row, "difference", about=f"{row['n_documents']} documents")
    if row["probe"] == probe:
        return number
    return replace(number, value=-number.value, low=-number.high, high=-number.low)
