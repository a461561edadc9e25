"""Our numbers for what is stated about heads of decoders."""

from dataclasses import replace

import numpy as np
import pandas as pd

from workflow_scripts.battery.measures import COPYING, RANDOM, RETRIEVAL
from workflow_scripts.claims.numbers import (
    DRAWS,
    OVER_DOCUMENTS,
    SEED,
    counted,
    in_percent,
    row_number,
)
from workflow_scripts.claims.products import NotMeasured, Products, measure
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.stats.bootstrap import document_weights, percentile_ends
from workflow_scripts.core.stats.randomisation import LEVEL

OF_SEQUENCES = "95% over sequences of random tokens"
OF_GROUPS = "95% over groups of heads that share keys and values"
WU_THRESHOLD = 0.1  # the score of a retrieval head
GU_THRESHOLD = 0.3  # the weight of a sink


@measure("battery-causal")
def excess_loss(products: Products, role: str, mode: str, text: str) -> Measured:
    """Nats by which the loss is higher without a role's heads than without sets free of the role.

    The sets have as many heads of the same layers; their mean is paired with the loss by sequence.
    Where p, the role's rank among the sets, is not below LEVEL, the lower end is 0 at most.
    """
    row = products.row("battery-causal", role=role, mode=mode, text=text)
    if pd.isna(row["excess"]):
        raise NotMeasured(f"battery-causal: {role}: {row['note']}")
    about = f"{row['n_heads']} heads; intact {row['intact']:.2f} nats, without them "
    about += f"{row['loss']:.2f}, without {row['n_free']} sets free of the role "
    about += f"{row['random']:.2f} ({row['random_min']:.2f} to {row['random_max']:.2f}); "
    about += f"p = {row['p']:.2g}; {row['accuracy_intact']:.0%} of the tokens ranked first intact, "
    about += f"{row['accuracy']:.0%} without the heads"
    number = row_number(row, "excess", "sequences", interval=OF_SEQUENCES, about=about)
    return number if row["p"] < LEVEL else replace(number, low=min(number.low, 0))


@measure(RANDOM, COPYING, "battery-correlations")
def copying_among(products: Products, role: str) -> Measured:
    """Points by which heads with a role copy more often than all other heads.

    A head copies where it has that role by behaviour. Samples of groups in which either side has no
    head are left out. The ends are NaN where all heads of a side are in one group.
    """
    columns = ["layer", "head", "has_role"]
    heads = products.rows(RANDOM, role=role)[columns].merge(
        products[COPYING][columns], on=columns[:2], suffixes=("", "_copying")
    )
    has, copies = (heads[name].to_numpy() for name in ("has_role", "has_role_copying"))
    if has.all() or not has.any():
        raise NotMeasured(f"{has.sum()} of {len(heads)} heads have the role {role}")
    shared = products.row("battery-correlations", **{"of": "eigenvalue", "with": "copying"})
    in_group = int(shared["n"]) // int(shared["n_groups"])
    groups = heads["layer"].astype(str) + "." + (heads["head"] // in_group).astype(str)
    weights = document_weights(groups, DRAWS, SEED)
    weights = np.concatenate([np.ones((1, len(heads)), dtype=int), weights])  # the observed first
    with np.errstate(invalid="ignore"):  # NaN where either side has no head
        one, other = ((weights @ (copies & side)) / (weights @ side) for side in (has, ~has))
    value, *draws = 100 * (one - other)
    low, high = percentile_ends(np.array(draws), groups.nunique())
    low, high = min(low, value), max(high, value)
    counts = [groups[side].nunique() for side in (has, ~has)]
    if min(counts) < 2:  # nothing varies between samples of one group
        low = high = np.nan
    about = f"{copies[has].sum()} of {has.sum()} heads copy, and {copies[~has].sum()} of "
    about += f"{(~has).sum()} others; the role is in {counts[0]} of {groups.nunique()} groups"
    more = {"interval": OF_GROUPS, "about": about}
    return Measured(float(value), float(low), float(high), len(heads), "heads", **more)


@measure(RETRIEVAL)
def retrieval_share(products: Products, role: str) -> Measured:
    """Percent of the heads that are retrieval heads at the threshold of Wu et al., not the study's.

    The ends are by each head's interval over needles.
    """
    rows = products.rows(RETRIEVAL, role=role)
    above = (rows["score"] > rows["others"]) & (rows["score"] >= WU_THRESHOLD)
    found = above & (rows["p_corrected"] < LEVEL)
    sure, possible = (rows[end] >= WU_THRESHOLD for end in ("ci_low", "ci_high"))
    return in_percent(counted(found & sure, found, found | possible, "heads"))


@measure("battery-correlations")
def eigenvalues_and_copying(products: Products) -> Measured:
    """Rank correlation, over heads, of the eigenvalue score and copying by behaviour."""
    row = products.row("battery-correlations", **{"of": "eigenvalue", "with": "copying"})
    about = f"{row['n_groups']} groups of heads that share keys and values"
    return row_number(row, "rho", "heads", interval=OF_GROUPS, about=about)


@measure("battery-sinks")
def sinks(products: Products, first: str) -> Measured:
    """Percent of heads whose mean weight on the first token exceeds the threshold of Gu et al.

    What stands `first` is the text's own token, the start token, or a random one.
    """
    threshold = products.row("battery-sinks", first=first, measure="sinks")["threshold"]
    if threshold != GU_THRESHOLD:
        raise NotMeasured(f"battery-sinks: the threshold is {threshold:g}, not {GU_THRESHOLD}")
    return _together(products, first, "sinks")


@measure("battery-sinks")
def norm_less_weight(products: Products, first: str) -> Measured:
    """Points by which the first token's share of the norms exceeds its share of the weight."""
    by_norm, weight = (_together(products, first, name) for name in ("by_norm", "attention"))
    about = f"{by_norm.value:.0f}% by norm, {weight.value:.0f}% of the weight"
    return replace(_together(products, first, "norm_less_weight"), about=about)


def _together(products: Products, first: str, name: str) -> Measured:
    """A measure of all heads together, in percent."""
    row = products.row("battery-sinks", first=first, measure=name)
    number = row_number(row, "value", "documents", 100, interval=OVER_DOCUMENTS)
    return replace(number, n=int(row["n_documents"]))


@measure("context-orders")
def streaming_rank(products: Products, estimate: str) -> Measured:
    """Spearman's correlation over key-value heads of a score with what their streaming costs."""
    row = products.row("context-orders", order=estimate)
    number = row_number(row, "rho", "key-value heads", interval="95% over key-value heads")
    return replace(number, n=int(row["n_heads"]))


@measure("context-curves")
def streaming_rise(products: Products, estimate: str) -> Measured:
    """Percent by which the loss rises where the half of heads that a score ranks last streams."""
    rows = products.rows("context-curves", order=estimate)
    row = rows.loc[(rows["share"] - 0.5).abs().idxmin()]  # of an odd number of heads nearly half
    return row_number(row, "rise", "documents", interval=OVER_DOCUMENTS)
