"""Attribution against exact effects, from the printed table."""

import numpy as np

from tests.claims.independent.modes import about, by_task, table
from tests.claims.independent.study import Case, Study


def attribution_rank(study: Study, of: str) -> list[Case]:
    estimate, _, against = of.partition(" ")
    return numbers(study, estimate, "rho", lambda row: 1, against or "effect")


def attribution_missed(study: Study, of: str) -> list[Case]:
    return numbers(study, of, "top_missed", lambda row: 100 / row["top"])


def numbers(study: Study, of: str, name: str, factor, against: str = "effect") -> list[Case]:
    rows = [row for row in table(study, "attribution") if row["estimate"] == of]
    rows = [row for row in rows if row["against"] == against]
    found = []
    for task, of_task in by_task(rows).items():
        ends = [
            np.mean([factor(row) * row[column] for row in of_task])
            for column in (name, f"{name}_low", f"{name}_high")
        ]
        found.append(Case(*ends, **about(task)))
    return found


RECOMPUTED = {function.__name__: function for function in (attribution_rank, attribution_missed)}
