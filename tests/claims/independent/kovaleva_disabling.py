"""Kovaleva et al. 2019 on disabled heads and layers."""

import math

import pandas as pd
from scipy.stats import norm

from tests.claims.independent.clark import layers
from tests.claims.independent.kovaleva import ENDS, TITLES
from tests.claims.independent.study import Case, Missing, Study, over_seeds, where


def held_out_gain(study: Study, of: str) -> list[Case]:
    wanted = {"unit": of, "mode": "uniform", "split": "dev"}
    table = study.rows("tables/michel2019-gains.csv", **wanted)
    cases = []
    for name, title in TITLES.items():
        metric = {"stsb": "pearson", "cola": "matthews"}.get(name, "accuracy")
        rows = table[(table["task"] == title) & (table["metric"] == metric)]
        if len(rows):
            ends, seeds = over_seeds(rows, "gain", "gain_low", "gain_high")
            cases.append(Case(*ends, title, task=name, **seeds))
    return cases


def best_head_effect(study: Study, of: str) -> list[Case]:
    """The largest effect of each seed, by sorting."""
    task = next(name for name in TITLES if TITLES[name] == of)
    metric = {"stsb": "pearson", "cola": "matthews"}.get(task, "accuracy")
    wanted = {"unit": "head", "mode": "uniform", "split": "dev", "metric": metric}
    rows = where(study.all("ablation/*.pretrained.*.scores.parquet"), task=task, **wanted)
    best = [of_seed.sort_values("effect").iloc[[-1]] for _, of_seed in rows.groupby("seed")]
    number, seeds = over_seeds(pd.concat(best), "effect", *ENDS, scale=100)
    how = (seeds["interval"] or "95% over examples") + ", of the chosen head alone"
    return [Case(*number, of, task=task, seeds=seeds["seeds"], interval=how)]


def stratum_effect(study: Study, of: str) -> list[Case]:
    """The printed interval is of 90%: 1.644854 standard errors to each side."""
    kind, *only = of.split()
    cases = []
    for row in study.rows("tables/kovaleva2019-strata.csv", stratum=kind).to_dict("records"):
        if row["task"] in (only or [row["task"]]):
            error = (row["high"] - row["low"]) / 2 / 1.644854
            middle = (row["high"] + row["low"]) / 2
            assert math.isclose(middle, row["effect"], abs_tol=1e-5)
            ends = row["effect"] - 1.959964 * error, row["effect"] + 1.959964 * error
            number = (100 * end for end in (row["effect"], *ends))
            cases.append(Case(*number, TITLES[row["task"]], task=row["task"], near=1e-3))
    return cases


def layer_effect(study: Study, of: str) -> list[Case]:
    title, layer = of.split()
    task = next(name for name in TITLES if TITLES[name] == title)
    rows = study.all(f"ablation/{task}.pretrained.*.scores.parquet")
    wanted = {"unit": "layer", "mode": "uniform", "split": "dev", "metric": "accuracy"}
    rows = layers(where(rows, **wanted), f"{layer}-{layer}")
    if not len(rows):
        return []
    number, seeds = over_seeds(rows, "effect", *ENDS, scale=100)
    return [Case(*number, title, task=task, **seeds)]


def lowest_effect(study: Study, of: str) -> list[Case]:
    """The printed intervals are of 90%."""
    table = study.read("tables/kovaleva2019-heads.csv")
    heads = table[table["kinds"].str.contains(of, regex=False)].to_dict("records")
    if not heads:
        raise Missing(of)
    quantile, cases = norm.isf(0.025 / len(heads)), []
    for task in (task for task in TITLES if f"effect_{task}" in heads[0]):
        rows = [tuple(100 * head[f"{name}_{task}"] for name in ("effect", "low", "high"))
                for head in heads]  # fmt: skip
        halves = [quantile * (high - low) / 2 / 1.644854 for _, low, high in rows]
        pairs = list(zip(rows, halves, strict=True))
        number = (
            min(row[0] for row in rows),
            min(row[0] - half for row, half in pairs),
            min(row[0] + half for row, half in pairs),
        )
        seeds = len(
            {*where(study.all("ablation/*.pretrained.*.scores.parquet"), task=task)["seed"]}
        )
        cases.append(Case(*number, TITLES[task], task=task, near=1e-3, seeds=seeds))
    return cases


RECOMPUTED = {
    function.__name__: function
    for function in (held_out_gain, best_head_effect, stratum_effect, lowest_effect, layer_effect)
}
