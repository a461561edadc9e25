"""Michel et al. 2019 on classifiers, from the printed tables of variants."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from tests.claims.independent.study import (
    NAMES,
    STUDENT,
    Case,
    Missing,
    Study,
    attenuated,
    curve_mean,
    newcombe,
    over_seeds,
    surely_above,
    where,
)

TITLES = {name: title for title, name in NAMES.items()}


def accuracy_or_pearson(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task in accuracy, of STS-B in Pearson's correlation, where it has them."""
    kept = []
    for task in dict.fromkeys(table["task"]):
        rows = table[table["task"] == task]
        chosen = rows["metric"] == ("pearson" if task == "STS-B" else "accuracy")
        kept.append(rows[chosen] if chosen.any() else rows)
    return pd.concat(kept)


def of_accuracy(rows: pd.DataFrame) -> bool:
    """Whether points of the rows' metric can be held against points of accuracy."""
    return {*rows["metric"]} <= {"accuracy", "f1"}


def sets(study: Study, name: str) -> list[tuple[str, str, pd.DataFrame]]:
    """The case, task and rows of each development set, heads masked by gates of 0."""
    table = accuracy_or_pearson(study.rows(f"tables/{name}.csv", mode="zero"))
    found = []
    for task, split in dict.fromkeys(zip(table["task"], table["split"], strict=True)):
        rows = table[(table["task"] == task) & (table["split"] == split)]
        case = task if split == "dev" else f"{task} {split[len('dev_') :]}"
        found.append((case, NAMES[task], rows))
    return found


def without_loss(free: np.ndarray, sure: np.ndarray) -> tuple[float, float, float]:
    """Percent without a significant loss; as the lower end those that surely lose little."""
    share, low = 100 * np.mean(free), 100 * np.mean(free & sure)
    return share, low, share


def loses(rows: pd.DataFrame, level: float) -> np.ndarray:
    """The paper's criterion: a t-test without correction, or the test that there is."""
    p = [row["p"] if np.isnan(row["p_t"]) else row["p_t"] for row in rows.to_dict("records")]
    return np.array([effect < 0 for effect in rows["effect"]]) & (np.array(p) < level)


def classifier_heads_without_loss(study: Study, level: str, most: str) -> list[Case]:
    cases = []
    for case, task, rows in sets(study, "michel2019-table1"):
        ends = without_loss(~loses(rows, float(level)), rows["ci_low"].to_numpy() > -float(most))
        cases.append(Case(*ends, case, task=task, comparable=of_accuracy(rows)))
    return cases


def classifier_layers_of_one_head(study: Study, column: str, most: str) -> list[Case]:
    """Layers whose loss is smaller than a bound: by its value, surely, and possibly."""
    ends = {"effect": ("ci_low", "ci_high"), "gain": ("gain_low", "gain_high")}[column]
    cases = []
    for case, task, rows in sets(study, "michel2019-table3"):
        small = [100 * np.mean(rows[name] > -float(most)) for name in (column, *ends)]
        cases.append(Case(*small, case, task=task, comparable=of_accuracy(rows)))
    return cases


def worst_layer_of_one_head(study: Study) -> list[Case]:
    cases = []
    for case, task, rows in sets(study, "michel2019-table3"):
        worst = rows.sort_values("effect").drop_duplicates("seed")
        ends, seeds = over_seeds(worst, "effect", "ci_low", "ci_high")
        cases.append(Case(*ends, case, task=task, comparable=of_accuracy(rows), **seeds))
    return cases


def agreement(study: Study, correlation: str, task: str = "") -> list[Case]:
    rows = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="datasets")
    halves = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="halves")
    halves = dict(zip(halves["one"], halves["pearson"], strict=True))
    masked = {*study.all("ablation/*.pretrained.*.scores.parquet")["task"]}
    cases = []
    for row in rows.to_dict("records"):
        first, _, part = row["one"].rpartition(" ")
        name = NAMES.get(first if part in ("dev", "matched") else row["one"])
        if name in masked and task in ("", first, row["one"]):
            ends = (row[f"pearson{end}"] for end in ("", "_low", "_high"))
            most = attenuated(halves[row["one"]], halves[f"{first} {row['other']}"])
            about = {"task": name, "comparable": most >= float(correlation)}
            cases.append(Case(*ends, f"{row['one']} and {row['other']}", **about))
    return cases


def curves(study: Study, order: str) -> dict[str, pd.DataFrame]:
    table = study.read("tables/michel2019-fig3.csv")
    table = accuracy_or_pearson(table[table["strategy"] == order])
    return {
        task: where(table, task=task).sort_values("share") for task in dict.fromkeys(table["task"])
    }


TABLES = ("tables/ablation-{}.csv", "tables/next-token-{}.csv")
CHANGE = ("change", "change_low", "change_high")


def pruned(study: Study, share: str, task: str = "") -> list[Case]:
    cases = []
    for title, rows in curves(study, "importance").items():
        if task in ("", title):
            nearest = min(rows.to_dict("records"), key=lambda row: abs(row["share"] - float(share)))
            ends = (100 * nearest[name] for name in CHANGE)
            points = bool(task) or nearest["metric"] in ("accuracy", "f1")
            cases.append(Case(*ends, title, comparable=points, task=NAMES[title]))
    return cases


def order_area(study: Study) -> list[Case]:
    found = [curves(study, order) for order in ("importance", "ablation", "random")]
    cases = []
    for title in sorted({*found[0]} & {*found[1]}):
        first, second, *random = (
            100 * curve_mean(table[title], *CHANGE) for table in found if title in table
        )
        known = all(surely_above(second, third) for third in random)
        cases.append(Case(*newcombe(first, second), title, task=NAMES[title], comparable=known))
    return cases


def one_head_each(study: Study) -> list[Case]:
    table = study.rows("tables/michel2019-one-head.csv", kept="most important")
    cases = []
    for task in table["task"]:
        row = where(table, task=task)
        ends = (row[name].item() for name in CHANGE)
        cases.append(Case(*ends, task, task=NAMES[task], comparable=of_accuracy(row)))
    return cases


def speed_gain(study: Study, batch_size: str) -> list[Case]:
    cases = []
    for row in study.rows("tables/michel2019-table4.csv", batch_size=int(batch_size)).to_dict(
        "records"
    ):
        ratio, n = row["pruned"] / row["original"], row["repeats"]
        relative = [row[f"{name}_sd"] / row[name] for name in ("original", "pruned")]
        half = math.nan
        if n > 1:
            half = STUDENT[2 * n - 2] * math.sqrt(sum(x**2 for x in relative) / n)
        ends = (100 * (ratio * (1 + sign * half) - 1) for sign in (-1, 1))
        about = {"task": NAMES[row["task"]], "comparable": row["device"] != "cpu"}
        cases.append(Case(100 * (ratio - 1), *ends, row["task"], **about))
    return cases


def table(study: Study, name: str) -> list[dict[str, Any]]:
    for path in TABLES:
        try:
            return study.read(path.format(name)).to_dict("records")
        except Missing:
            continue
    raise Missing


def by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found = defaultdict(list)
    for row in rows:
        found[row["task"]].append(row)
    if not found:
        raise Missing
    return found


def about(task: str) -> dict[str, str]:
    return {} if task == "text" else {"case": TITLES[task], "task": task}


def of_pair(study: Study, *modes: str) -> dict[str, list[dict[str, Any]]]:
    rows = [row for row in table(study, "modes") if row["of"] == "loss"]
    return by_task([row for row in rows if {row["one"], row["other"]} == {*modes}])


def modes_rank(study: Study, mode: str, other_mode: str) -> list[Case]:
    found = []
    for task, rows in of_pair(study, mode, other_mode).items():
        highs = []
        for row in rows:
            # Spearman and Brown: twice the length of a half.
            known = [
                2 * r / (1 + r) if r > 0 else 0 for r in (row["halves_one"], row["halves_other"])
            ]
            most, high = (known[0] * known[1]) ** 0.5, row["rho_high"]
            if high > 0:
                high = 1 if high >= most else high / most
            highs.append(high)
        ends = (np.mean([row[name] for row in rows]) for name in ("rho", "rho_low"))
        found.append(Case(*ends, np.mean(highs), **about(task)))
    return found


def modes_opposite(study: Study, mode: str, other_mode: str) -> list[Case]:
    found = []
    for task, rows in of_pair(study, mode, other_mode).items():
        k, n = (sum(row[name] for row in rows) for name in ("opposite_nominal", "both_nominal"))
        if n:
            interval = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
            found.append(Case(100 * k / n, 100 * interval.low, 100 * interval.high, **about(task)))
    if not found:
        raise Missing
    return found


def modes_verdict(study: Study) -> list[Case]:
    rows = [row for row in table(study, "mode-heads") if row["of"] == "loss"]
    rows = [row for row in rows if row["verdict"] != "no effect shown"]
    found = []
    for task, of_task in by_task(rows).items():
        counts = np.zeros(3)
        for row in of_task:
            lows = [value for name, value in row.items() if name.startswith("low_")]
            highs = [value for name, value in row.items() if name.startswith("high_")]
            everywhere = row["verdict"] == "in all modes"
            apart = min(lows) > 0 or max(highs) < 0
            counts += [everywhere, everywhere and apart, row["verdict"] != "depends on the mode"]
        found.append(Case(*(100 * counts / len(of_task)), **about(task)))
    return found


def attribution_rank(study: Study, estimate: str, against: str = "effect") -> list[Case]:
    return numbers(study, estimate, "rho", lambda row: 1, against)


def attribution_missed(study: Study, estimate: str) -> list[Case]:
    return numbers(study, estimate, "top_missed", lambda row: 100 / row["top"])


def numbers(study: Study, estimate: str, name: str, factor, against: str = "effect") -> list[Case]:
    rows = [row for row in table(study, "attribution") if row["estimate"] == estimate]
    rows = [row for row in rows if row["against"] == against]
    found = []
    for task, of_task in by_task(rows).items():
        ends = [
            np.mean([factor(row) * row[column] for row in of_task])
            for column in (name, f"{name}_low", f"{name}_high")
        ]
        found.append(Case(*ends, **about(task)))
    return found
