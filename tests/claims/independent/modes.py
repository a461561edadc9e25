"""Modes of disabling, from the printed tables of pairs of modes and of heads."""

from collections import defaultdict
from typing import Any

import numpy as np

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


def of_pair(study: Study, of: str, name: str, factor: float) -> list[Case]:
    wanted = sorted(of.split())
    rows = [row for row in table(study, "modes") if row["of"] == "loss"]
    rows = [row for row in rows if sorted((row["one"], row["other"])) == wanted]
    columns = (name, f"{name}_low", f"{name}_high")
    found = []
    for task, of_task in by_task(rows).items():
        number = (factor * np.mean([row[column] for row in of_task]) for column in columns)
        found.append(Case(*number, **about(task)))
    return found


def modes_rank(study: Study, of: str) -> list[Case]:
    return of_pair(study, of, "rho", 1)


def modes_opposite(study: Study, of: str) -> list[Case]:
    return of_pair(study, of, "opposite", 100)


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
            counts += [everywhere, everywhere and apart, not row["contradicted"]]
        found.append(Case(*(100 * counts / len(of_task)), **about(task)))
    return found


RECOMPUTED = {
    function.__name__: function for function in (modes_rank, modes_opposite, modes_verdict)
}
