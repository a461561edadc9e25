"""Michel et al. 2019 on classifiers, from the printed tables of variants."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from tests.claims.independent.clark import means
from tests.claims.independent.study import (
    NAMES,
    TITLES,
    Case,
    Cases,
    Missing,
    Study,
    attenuated,
    curve_mean,
    newcombe,
    over_seeds,
    quantile,
    surely_above,
    tasks,
    where,
    with_seeds,
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


def classifier_heads_without_loss(study: Study, level: str, most: str) -> Cases:
    for case, task, rows in sets(study, "michel2019-table1"):
        ends = without_loss(~loses(rows, float(level)), rows["ci_low"].to_numpy() > -float(most))
        yield Case(*ends, case, task=task, comparable=of_accuracy(rows))


def classifier_layers_of_one_head(study: Study, column: str, most: str) -> Cases:
    """Layers whose loss is smaller than a bound: by its value, surely, and possibly."""
    ends = {"effect": ("ci_low", "ci_high"), "gain": ("gain_low", "gain_high")}[column]
    for case, task, rows in sets(study, "michel2019-table3"):
        small = [100 * np.mean(rows[name] > -float(most)) for name in (column, *ends)]
        yield Case(*small, case, task=task, comparable=of_accuracy(rows))


def worst_layer_of_one_head(study: Study) -> Cases:
    for case, task, rows in sets(study, "michel2019-table3"):
        worst = rows.sort_values("effect").drop_duplicates("seed")
        ends, seeds = over_seeds(worst, "effect", "ci_low", "ci_high")
        yield Case(*ends, case, task=task, comparable=of_accuracy(rows), **seeds)


def agreement(study: Study, correlation: str, task: str = "") -> Cases:
    rows = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="datasets")
    halves = study.rows("tables/michel2019-pairs.csv", mode="zero", kind="halves")
    halves = dict(zip(halves["one"], halves["pearson"], strict=True))
    masked = {*study.all("ablation/*.finetuned.*.scores.parquet")["task"]}
    for row in rows.to_dict("records"):
        first, _, part = row["one"].rpartition(" ")
        name = NAMES.get(first if part in ("dev", "matched") else row["one"])
        if name in masked and task in ("", first, row["one"]):
            ends = (row[f"pearson{end}"] for end in ("", "_low", "_high"))
            most = attenuated(halves[row["one"]], halves[f"{first} {row['other']}"])
            about = {"task": name, "comparable": most >= float(correlation)}
            yield Case(*ends, f"{row['one']} and {row['other']}", **about)


def curves(study: Study, order: str) -> dict[str, pd.DataFrame]:
    table = study.read("tables/michel2019-fig3.csv")
    table = accuracy_or_pearson(table[table["strategy"] == order])
    return {
        task: where(table, task=task).sort_values("share") for task in dict.fromkeys(table["task"])
    }


CHANGE = ("change", "change_low", "change_high")


def pruned(study: Study, share: str, task: str = "") -> Cases:
    for title, rows in curves(study, "importance").items():
        if task in ("", title):
            nearest = min(rows.to_dict("records"), key=lambda row: abs(row["share"] - float(share)))
            if abs(nearest["share"] - float(share)) > 5:  # half of the paper's step
                continue
            ends = (100 * nearest[name] for name in CHANGE)
            ends = with_seeds(ends, 100 * nearest["change_sd"], nearest["runs"])
            points = bool(task) or nearest["metric"] in ("accuracy", "f1")
            yield Case(*ends, title, comparable=points, task=NAMES[title])


def order_area(study: Study) -> Cases:
    found = [curves(study, order) for order in ("importance", "ablation", "random")]
    for title in sorted({*found[0]} & {*found[1]}):
        first, second, *random = (
            100 * curve_mean(table[title], *CHANGE) for table in found if title in table
        )
        known = all(surely_above(second, third) for third in random)
        yield Case(*newcombe(first, second), title, task=NAMES[title], comparable=known)


def one_head_each(study: Study) -> Cases:
    table = study.rows("tables/michel2019-one-head.csv", kept="most important")
    for task in table["task"]:
        row = where(table, task=task)
        ends = with_seeds(row[list(CHANGE)].iloc[0], row["change_sd"].item(), row["runs"].item())
        yield Case(*ends, task, task=NAMES[task], comparable=of_accuracy(row))


def speed_gain(study: Study, batch_size: str) -> Cases:
    for row in study.rows("tables/michel2019-table4.csv", batch_size=int(batch_size)).to_dict(
        "records"
    ):
        ratio, n = row["pruned"] / row["original"], row["repeats"]
        relative = [row[f"{name}_sd"] / row[name] for name in ("original", "pruned")]
        half = math.nan
        if n > 1:
            half = quantile(2 * n - 2) * math.sqrt(sum(x**2 for x in relative) / n)
        ends = (100 * (ratio * (1 + sign * half) - 1) for sign in (-1, 1))
        about = {"task": NAMES[row["task"]], "comparable": row["device"] != "cpu"}
        yield Case(100 * (ratio - 1), *ends, row["task"], **about)


def of_tasks(study: Study, name: str, **wanted: str) -> Iterator[tuple[dict, pd.DataFrame]]:
    """The rows of each task, or of running text, in a decoder's table or that of classifiers."""
    try:
        table = study.rows(f"tables/next-token-{name}.csv", **wanted)
    except Missing:
        table = study.rows(f"tables/ablation-{name}.csv", **wanted)
    for task, rows in tasks(table):
        yield {} if task == "text" else {"case": TITLES[task], "task": task}, rows


def of_pair(study: Study, *modes: str) -> Iterator[tuple[dict, pd.DataFrame]]:
    for about, rows in of_tasks(study, "modes", of="loss"):
        pairs = [{*pair} == {*modes} for pair in zip(rows["one"], rows["other"], strict=True)]
        if any(pairs):
            yield about, rows[pairs]


def modes_rank(study: Study, mode: str, other_mode: str) -> Cases:
    for about, rows in of_pair(study, mode, other_mode):
        least = rows[["reliability_one", "reliability_other"]].min(axis=None)
        ends = [np.mean(list(rows[name])) for name in ("rho", "rho_low", "rho_high")]
        yield Case(*ends, comparable=least >= 0.3, **about)


def modes_opposite(study: Study, mode: str, other_mode: str) -> Cases:
    for about, rows in of_pair(study, mode, other_mode):
        k, n = (sum(rows[name]) for name in ("opposite", "both"))
        if n:
            interval = stats.binomtest(k, n).proportion_ci(method="wilson")
            yield Case(100 * k / n, 100 * interval.low, 100 * interval.high, **about)


def modes_verdict(study: Study) -> Cases:
    for about, rows in of_tasks(study, "mode-heads", of="loss"):
        counts, shown = np.zeros(3), rows[rows["verdict"] != "no effect shown"]
        for row in shown.to_dict("records"):
            lows = [value for name, value in row.items() if name.startswith("low_")]
            highs = [value for name, value in row.items() if name.startswith("high_")]
            everywhere = row["verdict"] == "in all modes"
            apart = min(lows) > 0 or max(highs) < 0
            counts += [everywhere, everywhere and apart, row["verdict"] != "depends on the mode"]
        if len(shown):
            yield Case(*(100 * counts / len(shown)), **about)


def attribution_rank(study: Study, estimate: str, against: str = "effect") -> Cases:
    for about, rows in of_tasks(study, "attribution", estimate=estimate, against=against):
        yield Case(*means(rows, "rho", "rho_low", "rho_high"), **about)


def attribution_missed(study: Study, estimate: str) -> Cases:
    for about, rows in of_tasks(study, "attribution", estimate=estimate, against="effect"):
        missed = means(rows, "top_missed", "top_missed_low", "top_missed_high")
        yield Case(*(100 * missed / rows["top"].iloc[0]), **about)
