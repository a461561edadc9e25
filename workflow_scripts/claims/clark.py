"""Our numbers for the claims of Clark et al. 2019 on what heads attend to (sections 3 and 6)."""

import math
from dataclasses import replace

import pandas as pd

from workflow_scripts.claims.intervals import (
    BOUNDS,
    WIDEST,
    WIDEST_RATIO,
    counted,
    in_percent,
    mean_of,
    minus,
)
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.clusters.measures import EMBEDDING
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.surface.measures import ENTROPY, GRADIENTS, POSITION, SPECIAL_TOKENS

PAPER_LAYERS = 12  # of BERT-base, whose layers the claims name
FEWEST_HEADS = 4  # whose layers are judged
# Whole documents are resampled for each head.
OF_HEADS = "mean of the heads' 95% intervals over documents"


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
    number = Measured(*mean_of(rows, "attention", 100), rows["n"].max(), "segments")
    return [replace(number, case=layers_of(rows), interval=OF_HEADS)]


def more_attention_below(products: Products, of: str) -> list[Measured]:
    """Points of attention that some layers give to a target more than others do.

    `of` is a target of Figure 2 and both ranges of layers, as "cls 1-4 5-8". The table has the
    interval of each head alone, so that of the difference is conservative: from their ends.
    """
    target, *ranges = of.split()
    rows = products.rows(SPECIAL_TOKENS, target=target)
    parts = [at_depth(rows, *map(int, layers.split("-"))) for layers in ranges]
    one, other = (Measured(*mean_of(part, "attention", 100)) for part in parts)
    means = [
        f"{layers_of(part)}: {number.value:.1f}"
        for part, number in zip(parts, (one, other), strict=True)
    ]
    number = Measured(*minus(one, other), rows["n"].max(), "segments", about=", ".join(means))
    return [replace(number, interval=WIDEST)]


def heads_above_half(products: Products, of: str) -> list[Measured]:
    """How many heads give more than half of their attention to the `of` (previous, next) token."""
    rows = products.rows(POSITION, target=of)
    number = counted(rows["ci_low"] > 0.5, rows["attention"] > 0.5, rows["ci_high"] > 0.5)
    heads = [label(row.layer, row.head) for row in rows[rows["attention"] > 0.5].itertuples()]
    return [replace(number, of="heads", about=" ".join(heads), interval=BOUNDS)]


def heads_in_first_half(products: Products, of: str) -> list[Measured]:
    """Percent, in the first half of the layers, of the heads with more than half on a neighbour.

    `of` names the neighbours, as "previous next". The bounds count heads whose interval holds a
    half where they lower or raise the share. Fewer heads than FEWEST_HEADS have no bounds: where
    one or two heads are says nothing about where such heads are.
    """
    rows = products[POSITION]
    rows = rows[rows["target"].isin(of.split())]
    early = (rows["layer"] + 0.5) / (rows["layer"].max() + 1) < 0.5
    sure, above, possible = (rows[name] > 0.5 for name in ("ci_low", "attention", "ci_high"))
    if not above.any():
        return []
    value = _percent((above & early).sum(), (above & ~early).sum(), 0)
    low = _percent((sure & early).sum(), (possible & ~early).sum(), 100)
    high = _percent((possible & early).sum(), (sure & ~early).sum(), 0)
    n = int(above.sum())
    about = " ".join(label(row.layer, row.head) for row in rows[above].itertuples())
    if n < FEWEST_HEADS:
        about += f": too few heads to tell, fewer than {FEWEST_HEADS}"
        return [Measured(value, math.nan, math.nan, n, "heads", about=about)]
    return [Measured(value, low, high, n, "heads", about=about, interval=BOUNDS)]


def _percent(part: int, rest: int, if_none: float) -> float:
    return 100 * part / (part + rest) if part + rest else if_none


def little_attention_to_self(products: Products, of: str) -> list[Measured]:
    """Percent of heads that give the token itself less than the share `of` of their attention."""
    rows, most = products.rows(POSITION, target="self"), float(of)
    number = counted(rows["ci_high"] < most, rows["attention"] < most, rows["ci_low"] < most)
    return [replace(in_percent(number), of="heads", interval=BOUNDS)]


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
    number = Measured(*ends, gradients["n"].max(), "segments", about=about)
    return [replace(number, own_head=head == "own", interval=WIDEST_RATIO)]


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
    number = minus(one, other)
    return [Measured(*number, int(first["n"]), "segments", about=heads, interval=WIDEST)]


def entropy_from_cls(products: Products, of: str) -> list[Measured]:
    """Entropy, in nats, of attention from [CLS] in the last layer; the reference: other layers."""
    rows = products.rows(ENTROPY, query="cls")
    last = rows["layer"] == rows["layer"].max()
    others = float(rows.loc[~last, "entropy"].mean())
    number = Measured(*mean_of(rows[last], "entropy"), rows["n"].max(), "segments")
    return [replace(number, reference=others, interval=OF_HEADS)]


def no_weight_above_tenth(products: Products, of: str) -> list[Measured]:
    """Percent of the queries of broad heads whose largest weight is 10% or less."""
    rows = products["clark2019-broad"].drop(columns=["ci_low", "ci_high"])
    names = {"at_most_tenth_low": "ci_low", "at_most_tenth_high": "ci_high"}
    rows = rows.rename(columns=names)
    if rows.empty:
        return []
    number = Measured(*mean_of(rows, "at_most_tenth", 100), rows["n"].max(), "segments")
    heads = f"{len(rows)} heads, {rows['head'].iloc[0]} the broadest"
    return [replace(number, about=heads, interval=OF_HEADS)]


def closer_within_layers(products: Products, of: str) -> list[Measured]:
    """How much closer, in percent of the mean distance, heads of one layer are than others.

    The heads are all that the model has. The ends are what is left of the number where the 2.5th
    and 97.5th percentile of heads shuffled over the layers are taken from it: both lie above 0
    where the permutation test finds that heads of one layer are closer.
    """
    row = products.row("clark2019-clusters", layer="all")
    value, scale = row["difference"], 100 / row["between"]
    ends = (scale * (value - row[f"shuffled_{end}"]) for end in ("high", "low"))
    n, p = len(products[EMBEDDING]), f"one-sided p = {row['p']:.2g}"
    shuffled = "permutation interval (null percentiles subtracted)"
    return [Measured(scale * value, *ends, n, "heads", about=p, interval=shuffled)]


MEASURES = (
    special_attention,
    more_attention_below,
    heads_above_half,
    heads_in_first_half,
    little_attention_to_self,
    gradient_ratio,
    broadest_in_first_layer,
    entropy_from_cls,
    no_weight_above_tenth,
    closer_within_layers,
)
