"""Our numbers for the claims of Clark et al. 2019."""

from dataclasses import replace

import pandas as pd

from workflow_scripts.claims.intervals import counted, from_p, mean_of, minus, share
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.clusters.measures import EMBEDDING
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.surface.measures import ENTROPY, GRADIENTS, POSITION, SPECIAL_TOKENS

PAPER_LAYERS = 12  # of BERT-base, whose layers the claims name
# The relations of the paper's Table 1 other than `all`.
RELATIONS = "prep pobj det nn nsubj amod dobj advmod aux poss auxpass ccomp mark prt".split()


def at_depth(rows: pd.DataFrame, first: int, last: int) -> pd.DataFrame:
    """The rows of layers as deep, in share of the model, as layers `first` to `last` of 12."""
    n_layers = rows["layer"].max() + 1
    middle = (rows["layer"] + 0.5) / n_layers
    return rows[middle.between((first - 1) / PAPER_LAYERS, last / PAPER_LAYERS)]


def layers_of(rows: pd.DataFrame) -> str:
    """The layers of the rows, for people."""
    first, last = rows["layer"].min() + 1, rows["layer"].max() + 1
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def special_attention(products: Products, of: str) -> list[Measured]:
    """Mean attention in percent; `of` is a target of Figure 2 and layers, as "sep 6-10"."""
    target, layers = of.split()
    first, last = map(int, layers.split("-"))
    rows = at_depth(products.rows(SPECIAL_TOKENS, target=target), first, last)
    return [
        Measured(*mean_of(rows, "attention", 100), rows["n"].max(), "segments", layers_of(rows))
    ]


def heads_above_half(products: Products, of: str) -> list[Measured]:
    """How many heads give more than half of their attention to the `of` (previous, next) token."""
    rows = products.rows(POSITION, target=of)
    number = counted(rows["ci_low"] > 0.5, rows["attention"] > 0.5, rows["ci_high"] > 0.5)
    heads = [label(row.layer, row.head) for row in rows[rows["attention"] > 0.5].itertuples()]
    return [replace(number, of="heads", about=" ".join(heads))]


def little_attention_to_self(products: Products, of: str) -> list[Measured]:
    """Percent of heads that give the token itself less than the share `of` of their attention."""
    rows, most = products.rows(POSITION, target="self"), float(of)
    number = counted(rows["ci_high"] < most, rows["attention"] < most, rows["ci_low"] < most)
    value, low, high = (100 * x / number.n for x in (number.value, number.low, number.high))
    return [Measured(value, low, high, number.n, "heads")]


def gradient_ratio(products: Products, of: str) -> list[Measured]:
    """Gradient of attention to a target of Figure 3 over that to all tokens, layers 5 to 12.

    `of` is the target, or "most attended" for the special token that those layers attend to most.
    """
    gradients = at_depth(products[GRADIENTS], 5, 12)
    target = _most_attended(products) if of == "most attended" else of
    one, all_tokens = (
        mean_of(gradients[gradients["target"] == name], "gradient") for name in (target, "unmasked")
    )
    ends = one[0] / all_tokens[0], one[1] / all_tokens[2], one[2] / all_tokens[1]
    about = f"{target}, {layers_of(gradients)}"
    head = gradients["masked_lm_head"].iloc[0]
    about = f"{about}, {head} head"
    n = gradients["n"].max()
    return [Measured(*ends, n, "segments", about=about, own_head=head == "own")]


def _most_attended(products: Products) -> str:
    rows = at_depth(products[SPECIAL_TOKENS], 5, 12)
    means = rows[rows["target"].isin(["cls", "sep"])].groupby("target")["attention"].mean()
    return str(means.idxmax())


def broadest_in_first_layer(products: Products, of: str) -> list[Measured]:
    """Entropy, in nats, of the broadest head of layer 1 minus that of the broadest head above."""
    rows = products.rows(ENTROPY, query="all")
    first, above = (
        group.loc[group["entropy"].idxmax()]
        for group in (rows[rows["layer"] == 0], rows[rows["layer"] > 0])
    )
    one, other = (Measured(row["entropy"], row["ci_low"], row["ci_high"]) for row in (first, above))
    heads = " and ".join(label(int(row["layer"]), int(row["head"])) for row in (first, above))
    return [Measured(*minus(one, other), int(first["n"]), "segments", about=heads)]


def entropy_from_cls(products: Products, of: str) -> list[Measured]:
    """Entropy, in nats, of attention from [CLS] in the last layer; the reference: other layers."""
    rows = products.rows(ENTROPY, query="cls")
    last = rows["layer"] == rows["layer"].max()
    others = float(rows.loc[~last, "entropy"].mean())
    number = mean_of(rows[last], "entropy")
    return [Measured(*number, rows["n"].max(), "segments", reference=others)]


def no_weight_above_tenth(products: Products, of: str) -> list[Measured]:
    """Percent of the queries of broad heads whose largest weight is 10% or less."""
    rows = products["clark2019-broad"].drop(columns=["ci_low", "ci_high"])
    names = {"at_most_tenth_low": "ci_low", "at_most_tenth_high": "ci_high"}
    rows = rows.rename(columns=names)
    if rows.empty:
        return []
    number = mean_of(rows, "at_most_tenth", 100)
    heads = f"{len(rows)} heads, {rows['head'].iloc[0]} the broadest"
    return [Measured(*number, rows["n"].max(), "segments", about=heads)]


def relation(products: Products, of: str) -> list[Measured]:
    """Accuracy in percent of the best head for a relation; the reference is our best offset."""
    row = products.row("clark2019-table1", relation=of)
    number = row["accuracy"], row["ci_low"], row["ci_high"]
    about = f"{row['head']}, offset {row['offset']:+.0f}: {row['baseline']:.1f}"
    return [Measured(*number, int(row["n"]), "words", reference=row["baseline"], about=about)]


def relation_head_gain(products: Products, of: str) -> list[Measured]:
    """Points by which the best head over all relations beats the best offset."""
    row = products.row("clark2019-table1", relation="all")
    number = (row[name] - row["baseline"] for name in ("accuracy", "ci_low", "ci_high"))
    return [Measured(*number, int(row["n"]), "words", about=str(row["head"]))]


def relations_beyond_offset(products: Products, of: str) -> list[Measured]:
    """How many of the paper's relations have a head that beats the best offset.

    The head is chosen on one half of the sentences and measured on the other; the intervals are
    corrected for the number of relations (Bonferroni).
    """
    rows = _relations(products)
    confidence = 1 - 0.05 / len(rows)
    ends = [
        share(round(row.held_out_accuracy / 100 * row.held_out_n), int(row.held_out_n), confidence)
        for row in rows.itertuples()
    ]
    baseline, accuracy = rows["baseline"], rows["held_out_accuracy"]
    number = counted(
        [low > base for (low, _), base in zip(ends, baseline, strict=True)],
        accuracy > baseline,
        [high > base for (_, high), base in zip(ends, baseline, strict=True)],
    )
    return [replace(number, of="relations")]


def relations_above(products: Products, of: str) -> list[Measured]:
    """How many of some relations have a head above an accuracy; `of` is like "75 dobj det"."""
    bound, *names = of.split()
    rows = _relations(products)
    rows = rows[rows["relation"].isin(names)]
    ends = (rows[name] > float(bound) for name in ("ci_low", "accuracy", "ci_high"))
    return [replace(counted(*ends), of="relations", about=", ".join(rows["relation"]))]


def dependents_attend(products: Products, of: str) -> list[Measured]:
    """Percent of the paper's relations, but pobj, whose best head looks from dependent to head."""
    rows = _relations(products)
    rows = rows[rows["relation"] != "pobj"]
    upwards = int((rows["direction"] == "dependent_to_head").sum())
    ends = share(upwards, len(rows))
    return [Measured(100 * upwards / len(rows), *ends, len(rows), "relations")]


def split_words(products: Products, of: str) -> list[Measured]:
    """Percent of the words that the tokenizer splits."""
    row = products.row("clark2019-table1", relation="all")
    ends = share(round(row["split_words"] / 100 * row["n"]), int(row["n"]))
    return [Measured(row["split_words"], *ends, int(row["n"]), "words")]


def special_tokens_kept(products: Products, of: str) -> list[Measured]:
    """Percent of relations whose accuracy moves by less than `of` points for the median head.

    With [CLS] and [SEP] among the candidates; an exact count.
    """
    rows = _relations(products)
    still = int((rows["with_special_median_change"].abs() < float(of)).sum())
    value = 100 * still / len(rows)
    return [Measured(value, value, value, len(rows), "relations")]


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
    """Points by which the best head, chosen on other documents, beats a rule of Table 2."""
    row, rule = _antecedent_row(products, "best head", "all"), _antecedents(products, of, "all")
    accuracy, n = row["held_out_accuracy"], int(row["held_out_n"])
    head = Measured(accuracy, *share(round(accuracy / 100 * n), n), n)
    return [Measured(*minus(head, rule), n, "mentions", about=str(row["held_out_head"]))]


def _antecedents(products: Products, system: str, kind: str) -> Measured:
    row = _antecedent_row(products, system, kind)
    number = row["accuracy"], row["ci_low"], row["ci_high"]
    about = str(row["head"]) if system == "best head" else ""
    return Measured(*number, int(row["n"]), "mentions", about=about)


def _antecedent_row(products: Products, system: str, kind: str) -> pd.Series:
    return products.row("clark2019-table2", compared=True, type=kind, system=system)


def probe(products: Products, of: str) -> list[Measured]:
    """UAS (UUAS of the structural probe) of a probe; the reference is our right-branching one."""
    row = products.row("clark2019-table3", probe=of)
    branching = products.row("clark2019-table3", probe="right-branching")["score"]
    reference = None if of == "right-branching" else branching
    number = row["score"], row["ci_low"], row["ci_high"]
    return [Measured(*number, int(row["n"]), "words", reference=reference, about=row["measure"])]


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
            return [Measured(sign * row["difference"], *ends, int(row["n"]), "words", about=about)]
    return []


def closer_within_layers(products: Products, of: str) -> list[Measured]:
    """How much closer, in percent of the mean distance, heads of one layer are than others."""
    row = products.row("clark2019-clusters", layer="all")
    scale = 100 / row["between"]
    ends = from_p(row["difference"] * scale, min(2 * row["p"], 1.0))
    n = len(products[EMBEDDING])
    return [Measured(*ends, n, "heads", about=f"p = {row['p']:.2g}")]


MEASURES = (
    special_attention,
    heads_above_half,
    little_attention_to_self,
    gradient_ratio,
    broadest_in_first_layer,
    entropy_from_cls,
    no_weight_above_tenth,
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
    closer_within_layers,
)
