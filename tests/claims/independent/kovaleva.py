"""Kovaleva et al. 2019, from the tables of heads and those printed."""

import math

import numpy as np
import pandas as pd

from tests.claims.independent.clark import apart, layers, means, named
from tests.claims.independent.study import (
    Case,
    Missing,
    Study,
    student,
    tasks,
    where,
    wilson,
)

TITLES = {"mrpc": "MRPC", "stsb": "STS-B", "sst2": "SST-2", "qqp": "QQP", "rte": "RTE"}
TITLES |= {"qnli": "QNLI", "mnli": "MNLI", "cola": "CoLA"}
SEVEN = [name for name in TITLES if name != "cola"]
ENDS = ("ci_low", "ci_high")


def classifier_f1(study: Study, of: str) -> list[Case]:
    rows = study.rows("tables/kovaleva2019-classifier.csv", maps="fine-tuned")
    row = where(rows, method="network").iloc[0]
    chance = where(rows, method="network, shuffled labels").iloc[0]["macro_f1"]
    ends = (row[f"macro_f1{end}"] for end in ("", "_low", "_high"))
    return [Case(*ends, reference=chance)]


def class_share(study: Study, of: str) -> list[Case]:
    rows = study.rows("patterns/shares.parquet", stage="fine-tuned", **{"class": of})
    cases = []
    for task, of_task in tasks(rows):
        for method in dict.fromkeys(of_task["method"]):
            heads: dict[tuple, list[float]] = {}
            for row in where(of_task, method=method).to_dict("records"):
                heads.setdefault((row["layer"], row["head"]), []).append(100 * row["share"])
            number = student(np.array([np.mean(shares) for shares in heads.values()]))
            cases.append(Case(*number, f"{TITLES[task]}, by {method}", task=task))
    return cases


def frame_heads(study: Study, of: str) -> list[Case]:
    table = study.rows("tables/kovaleva2019-frame-controls.csv", direction="either")
    rows = table.to_dict("records")
    listed = sum(row["p_corrected"] < 0.05 and row["difference"] >= 0.02 for row in rows)
    most = sum(row["p"] < 0.05 and row["difference"] > 0 for row in rows)
    return [Case(*(100 * count / len(rows) for count in (listed, listed, most)))]


def frame_attention(study: Study, of: str) -> list[Case]:
    rows = study.rows("tables/kovaleva2019-frames.csv", direction="either")
    best = rows.sort_values("attention").iloc[-1]
    controls = study.rows("tables/kovaleva2019-frame-controls.csv", direction="either")
    reference = where(controls, head=best["head"]).iloc[0]["control"]
    return [Case(*best[["attention", *ENDS]], reference=reference)]


def glue_score(study: Study, of: str) -> list[Case]:
    task, metric, column = of.split()
    row = study.rows("tables/kovaleva2019-table1.csv", task=task, metric=metric, split="dev")
    row = row.iloc[0]
    if math.isnan(row[column]):
        raise Missing(of)
    ends = (row[column + end] for end in ("", "_low", "_high"))
    comparable = bool(row["official"] or row["generated"])
    name = next(name for name in TITLES if TITLES[name] == task)
    return [Case(*ends, task, reference=row["majority"], comparable=comparable, task=name)]


def main_scores(study: Study, columns: str) -> dict[str, tuple[np.ndarray, bool]]:
    """For each of the seven tasks the difference of two columns, and whether its data are own."""
    more, less = columns.split(" over ")
    table = study.rows("tables/kovaleva2019-table1.csv", split="dev")
    found = {}
    for name in SEVEN:
        metric = "pearson" if name == "stsb" else "accuracy"
        rows = table[(table["task"] == TITLES[name]) & (table["metric"] == metric)]
        for row in rows.to_dict("records"):
            one, other = (
                np.array([row[column + end] for end in ("", "_low", "_high")])
                for column in (more, less)
            )
            if not np.isnan(one[0] - other[0]):
                found[name] = apart(one, other), row["official"] and not row["generated"]
    return found


def table1_gain(study: Study, of: str) -> list[Case]:
    columns, _, named_tasks = of.partition(" on ")
    gains = main_scores(study, columns)
    wanted = named_tasks.split() or list(TITLES.values())
    return [Case(*gains[name][0], TITLES[name], task=name) for name in gains
            if TITLES[name] in wanted]  # fmt: skip


def average_gain(study: Study, of: str) -> list[Case]:
    gains = main_scores(study, of)
    if len(gains) < 7:
        return []
    value = np.mean([gain[0] for gain, _ in gains.values()])
    below = math.sqrt(sum((gain[0] - gain[1]) ** 2 for gain, _ in gains.values())) / 7
    above = math.sqrt(sum((gain[2] - gain[0]) ** 2 for gain, _ in gains.values())) / 7
    own = all(own for _, own in gains.values())
    return [Case(value, value - below, value + above, "seven tasks", 0.0, own)]


def last_layers_change(study: Study, of: str) -> list[Case]:
    cases = []
    for task, rows in tasks(study.all("finetuning/*.similarity.parquet")):
        if TITLES[task] == of:
            continue
        last = {*layers(rows, "11-12")["layer"]}
        by_layer = {
            layer: 100 * means(rows[rows["layer"] == layer], "similarity", *ENDS)
            for layer in {*rows["layer"]}
        }
        kept = [by_layer[layer] for layer in by_layer if layer not in last]
        changed = [by_layer[layer] for layer in last]
        most_of_others = min(kept, key=lambda ends: ends[0])
        least_of_last = max(changed, key=lambda ends: ends[0])
        cases.append(Case(*apart(most_of_others, least_of_last), TITLES[task], task=task))
    return cases


def features(study: Study, query: str) -> pd.DataFrame:
    rows = study.all("finetuning/*.features.parquet")
    return where(rows, stage="fine-tuned", query=query)


def by_kind(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Mean attention in percent, with its ends, to each kind that occurs."""
    found = {kind: 100 * means(where(rows, kind=kind)) for kind in dict.fromkeys(rows["kind"])}
    return {kind: ends for kind, ends in found.items() if not np.isnan(ends[0])}


def words_to_special(study: Study, of: str) -> list[Case]:
    cases = []
    for task, rows in tasks(features(study, "all")):
        kinds = by_kind(rows)
        words = [ends for kind, ends in kinds.items() if kind not in ("cls", "sep", "punctuation")]
        most = max(words, key=lambda ends: ends[0])
        for special in ("cls", "sep"):
            ratio = 100 * most / kinds[special][[0, 2, 1]]
            cases.append(Case(*ratio, f"{TITLES[task]}, [{special.upper()}]", task=task))
    return cases


def special_by_depth(study: Study, of: str) -> list[Case]:
    one, _, other, _, depth = of.replace(",", "").split()
    cases = []
    for task, rows in tasks(features(study, "all")):
        kinds = by_kind(layers(rows, depth))
        assert named(layers(rows, depth))
        cases.append(Case(*apart(kinds[one], kinds[other]), TITLES[task], task=task))
    return cases


def cls_attends(study: Study, of: str) -> list[Case]:
    wanted, _, *chosen = of.split()
    cases = []
    for task, rows in tasks(features(study, "cls")):
        kinds = by_kind(rows[rows["layer"] == max(rows["layer"])])
        if TITLES[task] in chosen and wanted in kinds:
            ours = kinds.pop(wanted)
            next_best = max(kinds.values(), key=lambda ends: ends[0])
            cases.append(Case(*apart(ours, next_best), TITLES[task], task=task))
    return cases


def candidates_diagonal(study: Study, of: str) -> list[Case]:
    table = study.rows("tables/kovaleva2019-links.csv", stage="fine-tuned", far=False)
    cases = []
    for title, rows in tasks(table):
        for link in dict.fromkeys(rows["link"]):
            if link in of.split():
                columns = [f"neighbours{end}" for end in ("", "_low", "_high")]
                of_heads = where(rows, link=link)[columns].to_numpy()
                ends = [sum(share > 0.5 for share in shares) for shares in of_heads.T]
                task = next(name for name in TITLES if TITLES[name] == title)
                cases.append(Case(*ends, f"{title}, {link}", task=task))
    return cases


def adjacent_links(study: Study, of: str) -> list[Case]:
    table = where(study.all("finetuning/*.links.parquet"), stage="fine-tuned", link=of)
    cases = []
    for task, rows in tasks(table):
        n, far = (int(where(rows, far=only)["links"].max()) for only in (False, True))
        if n:
            near = n - far
            cases.append(Case(100 * near / n, *wilson(near, n), TITLES[task], task=task))
    return cases


def costly_head_and_shared_words(study: Study, of: str) -> list[Case]:
    heads = study.read("tables/kovaleva2019-heads.csv")
    if f"effect_{of}" not in heads:
        raise Missing(of)
    worst = heads.sort_values(f"effect_{of}").iloc[0]
    wanted = {"task": of, "stage": "fine-tuned", "measure": "copy"}
    wanted |= {"layer": worst["layer"], "head": worst["head"]}
    rows = where(study.all("finetuning/*.shared.parquet"), **wanted)
    return [Case(*(100 * means(rows, "excess", *ENDS)), TITLES[of], task=of)]


RECOMPUTED = {
    function.__name__: function
    for function in (
        classifier_f1,
        class_share,
        frame_heads,
        frame_attention,
        glue_score,
        table1_gain,
        average_gain,
        last_layers_change,
        words_to_special,
        special_by_depth,
        cls_attends,
        candidates_diagonal,
        adjacent_links,
        costly_head_and_shared_words,
    )
}
