"""Clark et al. 2019, from the tables of heads and those printed."""

import math

import numpy as np
import pandas as pd

from tests.claims.independent.study import Case, Missing, Study, where, wilson

OF_TABLE1 = {"prep", "pobj", "det", "nn", "nsubj", "amod", "dobj", "advmod", "aux", "poss"}
OF_TABLE1 |= {"auxpass", "ccomp", "mark", "prt"}
SPECIAL = "surface/special_tokens.parquet"
POSITION = "surface/position.parquet"


def layers(rows: pd.DataFrame, span: str) -> pd.DataFrame:
    """The layers whose middle lies where layers "6-10" of BERT-base's twelve do."""
    first, last = (int(x) for x in span.split("-"))
    depth = rows["layer"].max() + 1
    kept = [n for n in range(depth) if first - 1 <= 12 * (n + 0.5) / depth <= last]
    return rows[rows["layer"].isin(kept)]


def named(rows: pd.DataFrame) -> str:
    numbers = sorted({*rows["layer"]})
    if len(numbers) == 1:
        return f"layer {numbers[0] + 1}"
    return f"layers {numbers[0] + 1} to {numbers[-1] + 1}"


def means(rows: pd.DataFrame, *columns: str) -> np.ndarray:
    """The means of a column and of its interval's ends."""
    return np.array([np.mean(rows[column]) for column in columns or ("attention", *ENDS)])


ENDS = ("ci_low", "ci_high")


def apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A difference, and the ends that it has at most."""
    return np.array([one[0] - other[0], one[1] - other[2], one[2] - other[1]])


def special_attention(study: Study, of: str) -> list[Case]:
    target, span = of.split()
    rows = layers(study.rows(SPECIAL, target=target), span)
    return [Case(*(100 * means(rows)), named(rows))]


def more_attention_below(study: Study, of: str) -> list[Case]:
    target, lower, upper = of.split()
    rows = study.rows(SPECIAL, target=target)
    return [Case(*(100 * apart(means(layers(rows, lower)), means(layers(rows, upper)))))]


def heads_above_half(study: Study, of: str) -> list[Case]:
    rows = study.rows(POSITION, target=of)
    return [Case(*(sum(rows[name] > 0.5) for name in ("attention", *ENDS)))]


def heads_in_first_half(study: Study, of: str) -> list[Case]:
    rows = study.read(POSITION)
    rows = rows[rows["target"].isin(of.split())]
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


def little_attention_to_self(study: Study, of: str) -> list[Case]:
    rows = study.rows(POSITION, target="self")
    below = [100 * np.mean(rows[name] < float(of)) for name in ("attention", *ENDS[::-1])]
    return [Case(*below)]


def gradient_ratio(study: Study, of: str) -> list[Case]:
    rows = layers(study.read("surface/gradients.parquet"), "5-12")
    if of == "most attended":
        attention = layers(study.read(SPECIAL), "5-12")
        of = max(("cls", "sep"), key=lambda name: means(where(attention, target=name))[0])
    columns = ("gradient", *ENDS)
    one, every = (means(where(rows, target=name), *columns) for name in (of, "unmasked"))
    own = set(rows["masked_lm_head"]) == {"own"}
    return [Case(one[0] / every[0], one[1] / every[2], one[2] / every[1], own_head=own)]


def broadest_in_first_layer(study: Study, of: str) -> list[Case]:
    rows = study.rows("surface/entropy.parquet", query="all").sort_values("entropy")
    first, above = rows[rows["layer"] == 0].iloc[-1], rows[rows["layer"] != 0].iloc[-1]
    ends = [[row["entropy"], row["ci_low"], row["ci_high"]] for row in (first, above)]
    return [Case(*apart(*np.array(ends)))]


def entropy_from_cls(study: Study, of: str) -> list[Case]:
    rows = study.rows("surface/entropy.parquet", query="cls")
    top = rows["layer"].max()
    others = np.mean(rows["entropy"][rows["layer"] < top])
    ends = means(rows[rows["layer"] == top], "entropy", *ENDS)
    return [Case(*ends, reference=float(others))]


def no_weight_above_tenth(study: Study, of: str) -> list[Case]:
    rows = study.read("tables/clark2019-broad.csv")
    columns = [f"at_most_tenth{end}" for end in ("", "_low", "_high")]
    return [Case(*(100 * means(rows, *columns)))] if len(rows) else []


def relations(study: Study) -> pd.DataFrame:
    rows = study.read("tables/clark2019-table1.csv")
    return rows[[name in OF_TABLE1 for name in rows["relation"]]]


def relation(study: Study, of: str) -> list[Case]:
    row = study.rows("tables/clark2019-table1.csv", relation=of).iloc[0]
    return [Case(row["accuracy"], row["ci_low"], row["ci_high"], reference=row["baseline"])]


def relation_head_gain(study: Study, of: str) -> list[Case]:
    row = study.rows("tables/clark2019-table1.csv", relation="all").iloc[0]
    return [Case(*(row[f"held_out_gain{end}"] for end in ("", "_low", "_high")))]


def relations_beyond_offset(study: Study, of: str) -> list[Case]:
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


def relations_above(study: Study, of: str) -> list[Case]:
    bound, margin, *names = of.split()
    if missing := set(names) - set(relations(study)["relation"]):
        raise Missing(str(missing))
    counts = [0, 0, 0]
    for row in relations(study).itertuples():
        if row.relation in names and row.ci_high >= float(bound):
            known = row.ci_low >= float(bound) - float(margin)
            counts[0] += known or row.accuracy >= float(bound)
            counts[1] += known
            counts[2] += 1
    return [Case(*counts)]


def dependents_attend(study: Study, of: str) -> list[Case]:
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


def split_words(study: Study, of: str) -> list[Case]:
    row = study.rows("tables/clark2019-table1.csv", relation="all").iloc[0]
    value, n = row["split_words"], int(row["n"])
    return [Case(value, *wilson(round(value / 100 * n), n))]


def special_tokens_kept(study: Study, of: str) -> list[Case]:
    """Words that are lost to [CLS] or [SEP], as Wilson's interval of their share has it."""
    counts, rows = np.zeros(3), relations(study)
    for row in rows.to_dict("records"):
        loss = -row["with_special_median_change"]
        low, high = wilson(round(loss * row["n"] / 100), row["n"])
        counts += [end < float(of) for end in (loss, high, low)]
    return [Case(*(100 * counts / len(rows)))]


def antecedents(study: Study, of: str) -> list[Case]:
    system, _, kind = of.partition(": ")
    table = study.rows("tables/clark2019-table2.csv", compared=True, type=kind)
    row = where(table, system=system).iloc[0]
    weaker = {"best head": "head word match", "head word match": "nearest mention"}
    weaker["four sieves"] = "nearest mention"
    reference = None
    if system in weaker:
        reference = where(table, system=weaker[system]).iloc[0]["accuracy"]
    return [Case(row["accuracy"], row["ci_low"], row["ci_high"], reference=reference)]


def antecedent_gain(study: Study, of: str) -> list[Case]:
    wanted = {"compared": True, "type": "all", "system": "best head"}
    row = study.rows("tables/clark2019-table2.csv", **wanted).iloc[0]
    return [Case(*(row[f"gain_{of}{end}"] for end in ("", "_low", "_high")))]


def probe(study: Study, of: str) -> list[Case]:
    scores = study.read("tables/clark2019-table3.csv").set_index("probe")
    if of not in scores.index:
        raise Missing(of)
    reference = None if of == "right-branching" else scores.loc["right-branching", "score"]
    return [Case(*scores.loc[of, ["score", *ENDS]], reference=reference)]


def probe_gain(study: Study, of: str) -> list[Case]:
    measure, ours, _, other = of.split()
    for row in study.rows("tables/clark2019-probe-pairs.csv", measure=measure).to_dict("records"):
        if (row["probe"], row["other"]) == (ours, other):
            return [Case(row["difference"], row["ci_low"], row["ci_high"])]
        if (row["probe"], row["other"]) == (other, ours):
            return [Case(-row["difference"], -row["ci_high"], -row["ci_low"])]
    return []


def closer_within_layers(study: Study, of: str) -> list[Case]:
    row = study.rows("tables/clark2019-clusters.csv", layer="all").iloc[0]
    ends = [row["difference"] - row[name] for name in ("shuffled_high", "shuffled_low")]
    return [Case(*(100 * x / row["between"] for x in (row["difference"], *ends)))]


RECOMPUTED = {
    function.__name__: function
    for function in (
        special_attention,
        more_attention_below,
        heads_above_half,
        heads_in_first_half,
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
}
