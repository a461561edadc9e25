"""Michel et al. 2019 on classifiers, from the printed tables of variants."""

import math

import numpy as np
import pandas as pd

from tests.claims.independent.study import (
    NAMES,
    STUDENT,
    Case,
    Study,
    attenuated,
    curve_mean,
    newcombe,
    over_seeds,
    surely_above,
    where,
)


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


def classifier_heads_without_loss(study: Study, of: str) -> list[Case]:
    level, most = (float(x) for x in of.split())
    cases = []
    for case, task, rows in sets(study, "michel2019-table1"):
        ends = without_loss(~loses(rows, level), rows["ci_low"].to_numpy() > -most)
        cases.append(Case(*ends, case, task=task, comparable=of_accuracy(rows)))
    return cases


def classifier_layers_of_one_head(study: Study, of: str) -> list[Case]:
    """Layers whose loss is smaller than a bound: by its value, surely, and possibly."""
    column, bound = of.split()
    ends = {"effect": ("ci_low", "ci_high"), "gain": ("gain_low", "gain_high")}[column]
    cases = []
    for case, task, rows in sets(study, "michel2019-table3"):
        small = [100 * np.mean(rows[name] > -float(bound)) for name in (column, *ends)]
        cases.append(Case(*small, case, task=task, comparable=of_accuracy(rows)))
    return cases


def worst_layer_of_one_head(study: Study, of: str) -> list[Case]:
    cases = []
    for case, task, rows in sets(study, "michel2019-table3"):
        worst = rows.sort_values("effect").drop_duplicates("seed")
        ends, seeds = over_seeds(worst, "effect", "ci_low", "ci_high")
        cases.append(Case(*ends, case, task=task, comparable=of_accuracy(rows), **seeds))
    return cases


def agreement(study: Study, of: str) -> list[Case]:
    paper, *wanted = of.split()
    rows = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="datasets")
    halves = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="halves")
    halves = dict(zip(halves["one"], halves["pearson"], strict=True))
    masked = {*study.all("ablation/*.pretrained.*.scores.parquet")["task"]}
    cases = []
    for row in rows.to_dict("records"):
        first, _, part = row["one"].rpartition(" ")
        task = NAMES.get(first if part in ("dev", "matched") else row["one"])
        if task in masked and task in (wanted or [task]):
            ends = (row[f"pearson{end}"] for end in ("", "_low", "_high"))
            most = attenuated(halves[row["one"]], halves[f"{first} {row['other']}"])
            about = {"task": task, "comparable": most >= float(paper)}
            cases.append(Case(*ends, f"{row['one']} and {row['other']}", **about))
    return cases


def curves(study: Study, order: str) -> dict[str, pd.DataFrame]:
    table = study.read("tables/michel2019-fig3.csv")
    table = accuracy_or_pearson(table[table["strategy"] == order])
    return {
        task: where(table, task=task).sort_values("share") for task in dict.fromkeys(table["task"])
    }


CHANGE = ("change", "change_low", "change_high")


def pruned(study: Study, of: str) -> list[Case]:
    at, *tasks = of.split()
    cases = []
    for title, rows in curves(study, "importance").items():
        if not tasks or NAMES[title] in tasks:
            nearest = min(rows.to_dict("records"), key=lambda row: abs(row["share"] - float(at)))
            ends = (100 * nearest[name] for name in CHANGE)
            points = bool(tasks) or nearest["metric"] in ("accuracy", "f1")
            cases.append(Case(*ends, title, comparable=points, task=NAMES[title]))
    return cases


def order_area(study: Study, of: str) -> list[Case]:
    found = [curves(study, order) for order in (*of.split(" over "), "random")]
    cases = []
    for title in sorted({*found[0]} & {*found[1]}):
        first, second, *random = (
            100 * curve_mean(table[title], *CHANGE) for table in found if title in table
        )
        known = all(surely_above(second, third) for third in random)
        cases.append(Case(*newcombe(first, second), title, task=NAMES[title], comparable=known))
    return cases


def one_head_each(study: Study, of: str) -> list[Case]:
    table = study.rows("tables/michel2019-one-head.csv", kept="most important")
    cases = []
    for task in table["task"]:
        row = where(table, task=task)
        ends = (row[name].item() for name in CHANGE)
        cases.append(Case(*ends, task, task=NAMES[task], comparable=of_accuracy(row)))
    return cases


def speed_gain(study: Study, of: str) -> list[Case]:
    cases = []
    for row in study.rows("tables/michel2019-table4.csv", batch_size=int(of)).to_dict("records"):
        ratio, n = row["pruned"] / row["original"], row["repeats"]
        relative = [row[f"{name}_sd"] / row[name] for name in ("original", "pruned")]
        half = math.nan
        if n > 1:
            half = STUDENT[2 * n - 2] * math.sqrt(sum(x**2 for x in relative) / n)
        ends = (100 * (ratio * (1 + sign * half) - 1) for sign in (-1, 1))
        about = {"task": NAMES[row["task"]], "comparable": row["device"] != "cpu"}
        cases.append(Case(100 * (ratio - 1), *ends, row["task"], **about))
    return cases


RECOMPUTED = {
    function.__name__: function
    for function in (
        classifier_heads_without_loss,
        classifier_layers_of_one_head,
        worst_layer_of_one_head,
        agreement,
        pruned,
        order_area,
        one_head_each,
        speed_gain,
    )
}
