"""What is stated about heads of decoders, from the tables of roles and those printed."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from tests.claims.independent.study import ENDS, Case, Cases, Missing, Study, quantile

EIGENVALUE = {"of": "eigenvalue", "with": "copying"}


def excess_loss(study: Study, role: str, mode: str, text: str) -> Cases:
    wanted = {"role": role, "mode": mode, "text": text}
    row = study.rows("tables/battery-causal.csv", **wanted).iloc[0]
    if math.isnan(row["excess"]):
        raise Missing(role)
    low = row["excess_low"]
    if row["p"] >= 0.05 and low > 0:
        low = 0.0
    return [Case(row["excess"], low, row["excess_high"])]


def copying_among(study: Study, role: str) -> Cases:
    """A bootstrap of its own, one sample of groups of heads after the other."""
    with_role = study.rows("battery/roles.parquet", role=role).set_index(["layer", "head"])
    copies = study.read("battery/copying.parquet").set_index(["layer", "head"])["has_role"]
    row = study.rows("tables/battery-correlations.csv", **EIGENVALUE).iloc[0]
    groups: dict[tuple, list[tuple[bool, bool]]] = {}
    for (layer, head), has in with_role["has_role"].items():
        group = layer, head * row["n_groups"] // row["n"]
        groups.setdefault(group, []).append((has, copies[layer, head]))

    def difference(chosen: list[list[tuple[bool, bool]]]) -> float:
        sides = [[copy for of in chosen for has, copy in of if has == side]
                 for side in (True, False)]  # fmt: skip
        return 100 * (np.mean(sides[0]) - np.mean(sides[1])) if all(sides) else math.nan

    every = list(groups.values())
    value, random = difference(every), np.random.default_rng(7)
    if math.isnan(value):
        raise Missing(role)
    of_sides = [sum(side in (has for has, _ in of) for of in every) for side in (True, False)]
    if min(of_sides) < 2:
        return [Case(value, math.nan, math.nan)]
    samples = random.integers(0, len(every), (2000, len(every)))
    draws = [difference([every[k] for k in sample]) for sample in samples]
    n, beyond = len(every), 1.959964
    if n < 200:
        beyond = quantile(n - 1) * math.sqrt(n / (n - 1))
    low, high = np.nanpercentile(draws, 100 * stats.norm.cdf([-beyond, beyond]))
    return [Case(value, min(low, value), max(high, value), near=5)]


def eigenvalues_and_copying(study: Study) -> Cases:
    row = study.rows("tables/battery-correlations.csv", **EIGENVALUE).iloc[0]
    return [Case(row["rho"], row["ci_low"], row["ci_high"])]


def retrieval_share(study: Study, role: str) -> Cases:
    rows = study.rows("battery/retrieval.parquet", role=role).to_dict("records")
    counts = np.zeros(3)
    for row in rows:
        listed = row["score"] >= max(0.1, row["others"] + 1e-12) and row["p_corrected"] < 0.05
        counts += [listed, listed and row["ci_low"] >= 0.1, listed or row["ci_high"] >= 0.1]
    return [Case(*(100 * counts / len(rows)))]


def together(study: Study, first: str, measure: str) -> pd.Series:
    return study.rows("tables/battery-sinks.csv", first=first, measure=measure).iloc[0]


def sinks(study: Study, first: str) -> Cases:
    row = together(study, first, "sinks")
    if row["threshold"] != 0.3:
        raise Missing(first)
    return [Case(*(100 * row[name] for name in ("value", *ENDS)))]


def norm_less_weight(study: Study, first: str) -> Cases:
    row = together(study, first, "norm_less_weight")
    return [Case(*(100 * row[name] for name in ("value", *ENDS)))]


def streaming_rank(study: Study, estimate: str) -> Cases:
    row = study.rows("tables/context-orders.csv", order=estimate).iloc[0]
    return [Case(row["rho"], row["rho_low"], row["rho_high"])]


def streaming_rise(study: Study, estimate: str) -> Cases:
    rows = study.rows("tables/context-curves.csv", order=estimate)
    row = min((row for _, row in rows.iterrows()), key=lambda row: abs(row["share"] - 0.5))
    return [Case(row["rise"], row["rise_low"], row["rise_high"])]
