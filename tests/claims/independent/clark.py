"""Clark et al. 2019, from the tables of heads and those printed."""

import math

import numpy as np
import pandas as pd

from tests.claims.independent.study import (
    ENDS,
    Case,
    Cases,
    Missing,
    Study,
    over_units,
    where,
    wilson,
)

OF_TABLE1 = {"prep", "pobj", "det", "nn", "nsubj", "amod", "dobj", "advmod", "aux", "poss"}
OF_TABLE1 |= {"auxpass", "ccomp", "mark", "prt"}
SPECIAL = "surface/special_tokens.parquet"
POSITION = "surface/position.parquet"


def layers(rows: pd.DataFrame, first: int | str, last: int | str) -> pd.DataFrame:
    """The layers whose middle lies where layers first to last of BERT-base's twelve do."""
    depth = rows["layer"].max() + 1
    kept = [n for n in range(depth) if int(first) - 1 <= 12 * (n + 0.5) / depth <= int(last)]
    return rows[rows["layer"].isin(kept)]


def named(rows: pd.DataFrame) -> str:
    numbers = sorted({*rows["layer"]})
    if len(numbers) == 1:
        return f"layer {numbers[0] + 1}"
    return f"layers {numbers[0] + 1} to {numbers[-1] + 1}"


def means(rows: pd.DataFrame, *columns: str) -> np.ndarray:
    """The means of a column and of its interval's ends."""
    return np.array([np.mean(rows[column]) for column in columns or ("attention", *ENDS)])


def special_attention(study: Study, target: str, first_layer: str, last_layer: str) -> Cases:
    rows = layers(study.rows(SPECIAL, target=target), first_layer, last_layer)
    if "_to_" in target:
        heads = study.rows(SPECIAL, target=target.split("_to_")[0])
        comparable = heads["attention"].max() > 0.5
        return [Case(*(100 * over_units(rows)), named(rows), comparable=comparable)]
    return [Case(*(100 * over_units(rows)), named(rows))]


def more_attention_below(
    study: Study,
    target: str,
    first_layer: str,
    last_layer: str,
    other_first: str,
    other_last: str,
) -> Cases:
    rows = study.rows(SPECIAL, target=target)
    lower, upper = layers(rows, first_layer, last_layer), layers(rows, other_first, other_last)
    return [Case(*(100 * over_units(lower, less=upper)))]


def heads_above_half(study: Study, target: str) -> Cases:
    rows = study.rows(POSITION, target=target)
    return [Case(*(sum(rows[name] > 0.5) for name in ("attention", *ENDS)))]


def heads_in_first_half(study: Study, target: str) -> Cases:
    rows = study.read(POSITION)
    rows = rows[rows["target"].isin(target.split())]
    half = (rows["layer"].max() + 1) / 2
    counts = {
        (name, part): sum(rows[name][(rows["layer"] + 0.5 < half) == (part == "early")] > 0.5)
        for name in ("attention", *ENDS)
        for part in ("early", "late")
    }

    def share(early: int, late: int, without: float) -> float:
        return 100 * early / (early + late) if early + late else without

    found = sum(rows["attention"] > 0.5)
    if not found:
        return []
    if found < 4:
        early = share(counts["attention", "early"], counts["attention", "late"], 0)
        return [Case(early, math.nan, math.nan)]
    return [
        Case(
            share(counts["attention", "early"], counts["attention", "late"], 0),
            share(counts["ci_low", "early"], counts["ci_high", "late"], 100),
            share(counts["ci_high", "early"], counts["ci_low", "late"], 0),
        )
    ]


def little_attention_to_self(study: Study, most: str) -> Cases:
    rows = study.rows(POSITION, target="self")
    below = [100 * np.mean(rows[name] < float(most)) for name in ("attention", *ENDS[::-1])]
    return [Case(*below)]


def gradient_ratio(study: Study, target: str) -> Cases:
    rows = layers(study.read("surface/gradients.parquet"), 5, 12)
    if target == "most attended":
        attention = layers(study.read(SPECIAL), 5, 12)
        target = max(("cls", "sep"), key=lambda name: means(where(attention, target=name))[0])
    one, every = (where(rows, target=name) for name in (target, "unmasked"))
    own = set(rows["masked_lm_head"]) == {"own"}
    return [Case(*over_units(one, over=every), own_head=own)]


def broadest_in_first_layer(study: Study) -> Cases:
    rows = study.rows("surface/entropy.parquet", query="all").sort_values("entropy")
    first, above = rows[rows["layer"] == 0].iloc[-1:], rows[rows["layer"] != 0].iloc[-1:]
    return [Case(*over_units(first, less=above))]


def entropy_from_cls(study: Study) -> Cases:
    rows = study.rows("surface/entropy.parquet", query="cls")
    top = rows["layer"].max()
    others = np.mean(rows["entropy"][rows["layer"] < top])
    return [Case(*over_units(rows[rows["layer"] == top]), reference=float(others))]


def no_weight_above_tenth(study: Study) -> Cases:
    broad = {*study.read("tables/clark2019-broad.csv")["head"]}
    rows = study.rows("surface/entropy.parquet", query="all")
    names = (1 + rows["layer"]).astype(str) + "-" + (1 + rows["head"]).astype(str)
    rows = rows[names.isin(broad)]
    return [Case(*(100 * over_units(rows, column="at_most_tenth_sums")))] if broad else []


def relations(study: Study) -> pd.DataFrame:
    rows = study.read("tables/clark2019-table1.csv")
    return rows[[name in OF_TABLE1 for name in rows["relation"]]]


def relation(study: Study, relation: str) -> Cases:
    row = study.rows("tables/clark2019-table1.csv", relation=relation).iloc[0]
    return [Case(row["accuracy"], row["ci_low"], row["ci_high"], reference=row["baseline"])]


def relation_head_gain(study: Study) -> Cases:
    row = study.rows("tables/clark2019-table1.csv", relation="all").iloc[0]
    return [Case(*(row[f"held_out_gain{end}"] for end in ("", "_low", "_high")))]


def relations_beyond_offset(study: Study) -> Cases:
    """Holm's procedure as a loop: the smallest p first, until one is too large."""
    rows = relations(study).sort_values("held_out_gain_p")
    found, going = [], True
    for rank, p in enumerate(rows["held_out_gain_p"]):
        going = going and p * (len(rows) - rank) < 0.05
        found.append(going)
    gain, found = rows["held_out_gain"].to_numpy(), np.array(found)
    sure = found & (gain > 0)
    free = sure | ~(rows["held_out_gain_high"].to_numpy() <= 0.2)
    counts = sum(free & (gain > 0)), sum(sure), sum(free)
    return [Case(*(100 * count / len(rows) for count in counts))]


def relations_above(study: Study, least: str, margin: str, relation: str) -> Cases:
    bound, names = float(least), relation.split()
    if missing := set(names) - set(relations(study)["relation"]):
        raise Missing(str(missing))
    counts = [0, 0, 0]
    for row in relations(study).itertuples():
        if row.relation in names and row.ci_high >= bound:
            known = row.ci_low >= bound - float(margin)
            counts[0] += known or row.accuracy >= bound
            counts[1] += known
            counts[2] += 1
    return [Case(*counts)]


def dependents_attend(study: Study) -> Cases:
    scores = study.read("syntax/scores.parquet")
    counts, names = np.zeros(3), list(relations(study)["relation"])
    for name in names:
        best = {
            direction: rows.sort_values("accuracy").iloc[-1]
            for direction, rows in where(scores, relation=name).groupby("direction")
        }
        ours, other = best["dependent_to_head"], best["head_to_dependent"]
        if name == "pobj":
            ours, other = other, ours
        counts += [
            ours["accuracy"] > other["accuracy"],
            ours["ci_low"] > other["ci_high"],
            ours["ci_high"] >= other["ci_low"],
        ]
    return [Case(*(100 * counts / len(names)))]


def split_words(study: Study) -> Cases:
    row = study.rows("tables/clark2019-table1.csv", relation="all").iloc[0]
    value, n = row["split_words"], int(row["n"])
    return [Case(value, *wilson(round(value / 100 * n), n))]


def special_tokens_kept(study: Study, most: str) -> Cases:
    """Words that are lost to [CLS] or [SEP], as Wilson's interval of their share has it."""
    counts, rows = np.zeros(3), relations(study)
    for row in rows.to_dict("records"):
        loss = -row["with_special_median_change"]
        low, high = wilson(round(loss * row["n"] / 100), row["n"])
        counts += [end < float(most) for end in (loss, high, low)]
    return [Case(*(100 * counts / len(rows)))]


def antecedents(study: Study, system: str, mentions: str) -> Cases:
    table = study.rows("tables/clark2019-table2.csv", compared=True, type=mentions)
    row = where(table, system=system).iloc[0]
    weaker = {"best head": "head word match", "head word match": "nearest mention"}
    weaker["four sieves"] = "nearest mention"
    reference = None
    if system in weaker:
        reference = where(table, system=weaker[system]).iloc[0]["accuracy"]
    return [Case(row["accuracy"], row["ci_low"], row["ci_high"], reference=reference)]


def antecedent_gain(study: Study, other: str) -> Cases:
    wanted = {"compared": True, "type": "all", "system": "best head"}
    row = study.rows("tables/clark2019-table2.csv", **wanted).iloc[0]
    return [Case(*(row[f"gain_{other}{end}"] for end in ("", "_low", "_high")))]


def probe(study: Study, probe: str) -> Cases:
    scores = study.read("tables/clark2019-table3.csv").set_index("probe")
    if probe not in scores.index:
        raise Missing(probe)
    reference = None if probe == "right-branching" else scores.loc["right-branching", "score"]
    return [Case(*scores.loc[probe, ["score", *ENDS]], reference=reference)]


def probe_gain(study: Study, metric: str, probe: str, other: str) -> Cases:
    for row in study.rows("tables/clark2019-probe-pairs.csv", measure=metric).to_dict("records"):
        if (row["probe"], row["other"]) == (probe, other):
            return [Case(row["difference"], row["ci_low"], row["ci_high"])]
        if (row["probe"], row["other"]) == (other, probe):
            return [Case(-row["difference"], -row["ci_high"], -row["ci_low"])]
    return []


def closer_within_layers(study: Study) -> Cases:
    row = study.rows("tables/clark2019-clusters.csv", layer="all").iloc[0]
    ends = [row["difference"] - row[name] for name in ("shuffled_high", "shuffled_low")]
    return [Case(*(100 * x / row["between"] for x in (row["difference"], *ends)))]
