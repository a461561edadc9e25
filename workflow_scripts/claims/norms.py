"""Our numbers for the claims of Kobayashi et al. and Mohebbi et al. on norms and mixing."""

import pandas as pd

from workflow_scripts.claims.clark import HALF, no_head_rests
from workflow_scripts.claims.numbers import (
    OVER_DOCUMENTS,
    counted,
    in_percent,
    over_units,
    row_number,
)
from workflow_scripts.claims.products import NotMeasured, Products, measure
from workflow_scripts.claims.verdicts import PREMISE_ABSENT, Measured
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tables import where
from workflow_scripts.mixing import measures as mixing
from workflow_scripts.surface.measures import SPECIAL_TOKENS

HEAD = ["layer", "head"]


@measure(SPECIAL_TOKENS, mixing.SPECIAL_TOKENS)
def special_by_norm(products: Products, target: str) -> Measured:
    """Points by which a token's share of the norms exceeds that of the weights, over all heads."""
    weights = products.rows(SPECIAL_TOKENS, target=target)
    norms = products.rows(mixing.SPECIAL_TOKENS, target=target)
    by_norm, weight = (100 * rows["attention"].mean() for rows in (norms, weights))
    more = {"about": f"{by_norm:.1f}% by norm, {weight:.1f}% of the weight"}
    more["because"] = no_head_rests(products, target)
    return over_units(norms, "segments", less=weights, scale=100, **more)


@measure(
    SPECIAL_TOKENS,
    mixing.SPECIAL_TOKENS,
    if_none=f"{PREMISE_ABSENT}: no head gives a special token more than half of its weight",
)
def resting_by_norm(products: Products, target: tuple[str, ...]) -> Measured | None:
    """Percent of the norms that heads give to a special token with over half of their weight."""
    rows = []
    for token in target:
        weights = products.rows(SPECIAL_TOKENS, target=token)
        resting = weights.loc[weights["attention"] > HALF, HEAD]
        rows.append(products.rows(mixing.SPECIAL_TOKENS, target=token).merge(resting, on=HEAD))
    heads = pd.concat(rows, ignore_index=True)
    if heads.empty:
        return None
    about = f"{len(heads)} heads: " + " ".join(head_labels(heads))
    return over_units(heads, "segments", scale=100, about=about)


@measure("kobayashi2020-table1")
def same_parsers(products: Products) -> Measured:
    """Percent of the relations whose best head by weight is the best by norm, too.

    As the upper end, those whose best head by norm is not surely better than it by norm.
    """
    rows = products["kobayashi2020-table1"]
    rows = rows[~rows["relation"].str.startswith("all")]
    if rows.empty:
        raise NotMeasured("kobayashi2020-table1 has no relation")
    same = rows["same"]
    about = "" if same.all() else f"another head: {', '.join(rows.loc[~same, 'relation'])}"
    return in_percent(counted(same, same, ~rows["surely_another"], "relations", about=about))


@measure("kobayashi2021-mixing")
def mixing_ratio(products: Products, method: str) -> Measured:
    """Percent of mixing by a method, mean over layers."""
    row = products.row("kobayashi2021-mixing", method=method, layer="all")
    return row_number(row, "ratio", "segments", interval=OVER_DOCUMENTS)


@measure("mohebbi2023-zeroing")
def zeroing_agreement(products: Products, method: str) -> Measured:
    """Percent of tokens whose first token by a method is value zeroing's, mean over layers.

    What it says of each layer stands next to it: layers may differ more than the mean shows.
    """
    rows = products.rows("mohebbi2023-zeroing", measure=method)
    (row,) = where(rows, layer="all").to_dict("records")
    of_layers = 100 * rows.loc[rows["layer"] != "all", "value"]
    about = f"layers 1 to {len(of_layers)}: {', '.join(f'{value:.0f}' for value in of_layers)}%"
    return row_number(row, "value", "segments", 100, interval=OVER_DOCUMENTS, about=about)
