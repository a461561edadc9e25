"""Modes of disabling, from the printed tables of pairs of modes and of heads."""

from collections import defaultdict
from typing import Any

import numpy as np
from scipy import stats

from tests.claims.independent.kovaleva import TITLES
from tests.claims.independent.study import Case, Missing, Study

TABLES = ("tables/ablation-{}.csv", "tables/next-token-{}.csv")


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


def of_pair(study: Study, of: str) -> dict[str, list[dict[str, Any]]]:
    wanted = sorted(of.split())
    rows = [row for row in table(study, "modes") if row["of"] == "loss"]
    return by_task([row for row in rows if sorted((row["one"], row["other"])) == wanted])


def modes_rank(study: Study, of: str) -> list[Case]:
    found = []
    for task, rows in of_pair(study, of).items():
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


def modes_opposite(study: Study, of: str) -> list[Case]:
    found = []
    for task, rows in of_pair(study, of).items():
        k, n = (sum(row[name] for row in rows) for name in ("opposite_nominal", "both_nominal"))
        if n:
            interval = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
            found.append(Case(100 * k / n, 100 * interval.low, 100 * interval.high, **about(task)))
    if not found:
        raise Missing
    return found


def modes_verdict(study: Study, of: str) -> list[Case]:
    rows = [row for row in table(study, "mode-heads") if row["of"] == of]
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


RECOMPUTED = {
    function.__name__: function for function in (modes_rank, modes_opposite, modes_verdict)
}
