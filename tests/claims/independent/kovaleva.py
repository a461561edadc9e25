"""Kovaleva et al. 2019, from the tables of heads and those printed."""

import math

import numpy as np
import pandas as pd
from scipy.stats import norm

from tests.claims.independent.clark import layers, means
from tests.claims.independent.study import (
    ENDS,
    NAMES,
    TITLES,
    Case,
    Cases,
    Missing,
    Study,
    over_seeds,
    over_units,
    student,
    tasks,
    where,
    wilson,
    with_seeds,
)

ENDS_OF = ("", "_low", "_high")
SEVEN = [name for name in TITLES if name != "cola"]


def classifier_f1(study: Study) -> Cases:
    rows = study.rows("tables/kovaleva2019-classifier.csv", maps="fine-tuned")
    row = where(rows, method="network").iloc[0]
    chance = where(rows, method="network, shuffled labels").iloc[0]["macro_f1"]
    ends = (row[f"macro_f1{end}"] for end in ("", "_low", "_high"))
    return [Case(*ends, reference=chance)]


def class_share(study: Study, map_class: str) -> Cases:
    rows = study.rows("patterns/shares.parquet", stage="fine-tuned", **{"class": map_class})
    for task, of_task in tasks(rows):
        for method in dict.fromkeys(of_task["method"]):
            heads: dict[tuple, list[float]] = {}
            for row in where(of_task, method=method).to_dict("records"):
                heads.setdefault((row["layer"], row["head"]), []).append(100 * row["share"])
            number = student(np.array([np.mean(shares) for shares in heads.values()]))
            yield Case(*number, f"{TITLES[task]}, by {method}", task=task)


def frame_heads(study: Study) -> Cases:
    table = study.rows("tables/kovaleva2019-frame-controls.csv", direction="either")
    rows = table.to_dict("records")
    listed = sum(row["p_corrected"] < 0.05 and row["difference"] >= 0.02 for row in rows)
    most = sum(row["p"] < 0.05 and row["difference"] > 0 for row in rows)
    return [Case(*(100 * count / len(rows) for count in (listed, listed, most)))]


def frame_attention(study: Study) -> Cases:
    rows = study.rows("tables/kovaleva2019-frames.csv", direction="either")
    best = rows.sort_values("attention").iloc[-1]
    controls = study.rows("tables/kovaleva2019-frame-controls.csv", direction="either")
    reference = where(controls, head=best["head"]).iloc[0]["control"]
    return [Case(*best[["attention", *ENDS]], reference=reference)]


def glue_score(study: Study, task: str, metric: str, weights: str) -> Cases:
    row = study.rows("tables/kovaleva2019-table1.csv", task=task, metric=metric, split="dev")
    row = row.iloc[0]
    if math.isnan(row[weights]):
        raise Missing(weights)
    ends = with_seeds(
        row[[weights, f"{weights}_low", f"{weights}_high"]], row[f"{weights}_sd"], row["seeds"]
    )
    comparable = bool(row["official"] or row["generated"])
    return [Case(*ends, task, reference=row["majority"], comparable=comparable, task=NAMES[task])]


def gains(study: Study, one: str, other: str) -> dict[str, tuple[tuple, bool]]:
    """For each of the seven tasks the difference of two columns, and whether its data are own."""
    table = study.rows("tables/kovaleva2019-gains.csv", split="dev", column=one, other=other)
    found = {}
    for name in SEVEN:
        metric = "pearson" if name == "stsb" else "accuracy"
        rows = table[(table["task"] == TITLES[name]) & (table["metric"] == metric)]
        for row in rows.to_dict("records"):
            ends = with_seeds([row[f"gain{end}"] for end in ENDS_OF], row["gain_sd"], row["seeds"])
            found[name] = ends, row["official"] and not row["generated"]
    return found


def table1_gain(study: Study, weights: str, other_weights: str, task: str = "") -> Cases:
    found = gains(study, weights, other_weights)
    wanted = task.split() or list(TITLES.values())
    chosen = [name for name in found if TITLES[name] in wanted]
    return [Case(*found[name][0], TITLES[name], task=name) for name in chosen]


def average_gain(study: Study, weights: str, other_weights: str) -> Cases:
    found = gains(study, weights, other_weights)
    if len(found) < 7:
        return []
    value = np.mean([gain[0] for gain, _ in found.values()])
    below = math.sqrt(sum((gain[0] - gain[1]) ** 2 for gain, _ in found.values())) / 7
    above = math.sqrt(sum((gain[2] - gain[0]) ** 2 for gain, _ in found.values())) / 7
    own = all(own for _, own in found.values())
    return [Case(value, value - below, value + above, "seven tasks", 0.0, own)]


def last_layers_change(study: Study, but: str) -> Cases:
    for task, rows in tasks(study.all("finetuning/*.similarity.parquet")):
        if TITLES[task] == but:
            continue
        last = {*layers(rows, 11, 12)["layer"]}
        by_layer = {
            layer: (float(np.mean(part["similarity"])), part)
            for layer in {*rows["layer"]}
            for part in [rows[rows["layer"] == layer]]
        }
        kept = [by_layer[layer] for layer in by_layer if layer not in last]
        changed = [by_layer[layer] for layer in last]
        most_of_others = min(kept, key=lambda of_layer: of_layer[0])[1]
        least_of_last = max(changed, key=lambda of_layer: of_layer[0])[1]
        gap = 100 * over_units(most_of_others, less=least_of_last)
        yield Case(*gap, TITLES[task], task=task)


def features(study: Study, query: str) -> pd.DataFrame:
    rows = study.all("finetuning/*.features.parquet")
    return where(rows, stage="fine-tuned", query=query)


def by_kind(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each kind that occurs, that with most attention first."""
    found = {kind: where(rows, kind=kind) for kind in dict.fromkeys(rows["kind"])}
    found = {kind: part for kind, part in found.items() if not np.isnan(means(part)[0])}
    return dict(sorted(found.items(), key=lambda of_kind: -means(of_kind[1])[0]))


def words_to_special(study: Study) -> Cases:
    for task, rows in tasks(features(study, "all")):
        kinds = by_kind(rows)
        most = next(kinds[kind] for kind in kinds if kind not in ("cls", "sep", "punctuation"))
        for special in ("cls", "sep"):
            ratio = 100 * over_units(most, over=kinds[special])
            yield Case(*ratio, f"{TITLES[task]}, [{special.upper()}]", task=task)


def special_by_depth(
    study: Study, token: str, other_token: str, first_layer: str, last_layer: str
) -> Cases:
    for task, rows in tasks(features(study, "all")):
        kinds = by_kind(layers(rows, first_layer, last_layer))
        yield Case(
            *(100 * over_units(kinds[token], less=kinds[other_token])), TITLES[task], task=task
        )


def cls_attends(study: Study, token: str, task: str) -> Cases:
    for name, rows in tasks(features(study, "cls")):
        kinds = by_kind(rows[rows["layer"] == max(rows["layer"])])
        if TITLES[name] in task.split() and token in kinds:
            ours = kinds.pop(token)
            next_best = next(iter(kinds.values()))
            yield Case(*(100 * over_units(ours, less=next_best)), TITLES[name], task=name)


def candidates_diagonal(study: Study, link: str) -> Cases:
    table = study.rows("tables/kovaleva2019-links.csv", stage="fine-tuned", far=False)
    for title, rows in tasks(table):
        for name in dict.fromkeys(rows["link"]):
            if name in link.split():
                columns = [f"neighbours{end}" for end in ("", "_low", "_high")]
                of_heads = where(rows, link=name)[columns].to_numpy()
                ends = [sum(share > 0.5 for share in shares) for shares in of_heads.T]
                every = study.all(f"finetuning/{NAMES[title]}.*.links.parquet")
                every = where(every, stage="fine-tuned", link=name, far=False)
                highs = every.pivot(index="seed", columns=["layer", "head"])["neighbours_high"]
                enough = sum(highs.mean() > 0.5) >= len(of_heads)
                yield Case(*ends, f"{title}, {name}", task=NAMES[title], comparable=enough)


def adjacent_links(study: Study, link: str) -> Cases:
    table = where(study.all("finetuning/*.links.parquet"), stage="fine-tuned", link=link)
    for task, rows in tasks(table):
        n, far = (int(where(rows, far=only)["links"].max()) for only in (False, True))
        if n:
            near = n - far
            yield Case(100 * near / n, *wilson(near, n), TITLES[task], task=task)


def costly_head_and_shared_words(study: Study, task: str) -> Cases:
    heads = study.read("tables/kovaleva2019-heads.csv")
    if f"effect_{NAMES[task]}" not in heads:
        raise Missing(task)
    worst = heads.sort_values(f"effect_{NAMES[task]}").iloc[0]
    wanted = {"task": NAMES[task], "stage": "fine-tuned", "measure": "copy"}
    wanted |= {"layer": worst["layer_from_0"], "head": worst["head_from_0"]}
    rows = where(study.all("finetuning/*.shared.parquet"), **wanted)
    return [Case(*(100 * means(rows, "excess", *ENDS)), task, task=NAMES[task])]


def held_out_gain(study: Study, disabled: str) -> Cases:
    wanted = {"unit": disabled, "mode": "uniform", "split": "dev"}
    table = study.rows("tables/michel2019-gains.csv", **wanted)
    for name, title in TITLES.items():
        metric = {"stsb": "pearson", "cola": "matthews"}.get(name, "accuracy")
        rows = table[(table["task"] == title) & (table["metric"] == metric)]
        if len(rows):
            ends, seeds = over_seeds(rows, "gain", "gain_low", "gain_high")
            yield Case(*ends, title, task=name, **seeds)


def best_head_effect(study: Study, task: str) -> Cases:
    """The largest effect of each seed, by sorting."""
    name = NAMES[task]
    metric = {"stsb": "pearson", "cola": "matthews"}.get(name, "accuracy")
    wanted = {"unit": "head", "mode": "uniform", "split": "dev", "metric": metric}
    rows = where(study.all("ablation/*.finetuned.*.scores.parquet"), task=name, **wanted)
    best = [of_seed.sort_values("effect").iloc[[-1]] for _, of_seed in rows.groupby("seed")]
    number, seeds = over_seeds(pd.concat(best), "effect", *ENDS, scale=100)
    how = (seeds["interval"] or "95% over examples") + ", of the chosen head alone"
    return [Case(*number, task, task=name, seeds=seeds["seeds"], interval=how)]


def stratum_effect(study: Study, heads: str, task: str) -> Cases:
    """The printed interval is of 90%: 1.644854 standard errors to each side."""
    for row in study.rows("tables/kovaleva2019-strata.csv", stratum=heads).to_dict("records"):
        if row["task"] == NAMES[task]:
            error = (row["high"] - row["low"]) / 2 / 1.644854
            middle = (row["high"] + row["low"]) / 2
            assert math.isclose(middle, row["effect"], abs_tol=1e-5)
            ends = row["effect"] - 1.959964 * error, row["effect"] + 1.959964 * error
            number = (100 * end for end in (row["effect"], *ends))
            yield Case(*number, task, task=NAMES[task], near=1e-3)


def layer_effect(study: Study, task: str, layer: str) -> Cases:
    rows = study.all(f"ablation/{NAMES[task]}.finetuned.*.scores.parquet")
    wanted = {"unit": "layer", "mode": "uniform", "split": "dev", "metric": "accuracy"}
    rows = layers(where(rows, **wanted), layer, layer)
    if not len(rows):
        return []
    number, seeds = over_seeds(rows, "effect", *ENDS, scale=100)
    return [Case(*number, task, task=NAMES[task], **seeds)]


def lowest_effect(study: Study, heads: str) -> Cases:
    """The printed intervals are of 90%."""
    table = study.read("tables/kovaleva2019-heads.csv")
    found = table[table["kinds"].str.contains(heads, regex=False)].to_dict("records")
    if not found:
        raise Missing(heads)
    quantile = norm.isf(0.025 / len(found))
    for task in (task for task in TITLES if f"effect_{task}" in found[0]):
        names = [f"{name}_{task}" for name in ("effect", "low", "high")]
        effect, low, high = 100 * np.array([[head[name] for name in names] for head in found]).T
        half = quantile * (high - low) / 2 / 1.644854
        number = min(effect), min(effect - half), min(effect + half)
        seeds = len({*where(study.all("ablation/*.finetuned.*.scores.parquet"), task=task)["seed"]})
        yield Case(*number, TITLES[task], task=task, near=1e-3, seeds=seeds)
