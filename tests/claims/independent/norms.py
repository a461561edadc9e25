"""Kobayashi et al. 2020 and 2021 and Mohebbi et al. 2023, from the tables of mixing."""

import pandas as pd

from tests.claims.independent.clark import SPECIAL
from tests.claims.independent.study import ENDS, Case, Cases, Missing, Study, over_units

BY_NORM = "mixing/special_tokens.parquet"


def special_by_norm(study: Study, target: str) -> Cases:
    norms, weights = (study.rows(path, target=target) for path in (BY_NORM, SPECIAL))
    rests = weights["attention"].max() > 0.5
    return [Case(*(100 * over_units(norms, less=weights)), comparable=rests)]


def resting_by_norm(study: Study, target: str) -> Cases:
    found = []
    for token in target.split():
        norms = study.rows(BY_NORM, target=token).set_index(["layer", "head"])
        for row in study.rows(SPECIAL, target=token).to_dict("records"):
            if row["attention"] > 0.5:
                found.append(norms.loc[(row["layer"], row["head"])])
    if not found:
        raise Missing
    return [Case(*(100 * over_units(pd.DataFrame(found))))]


def same_parsers(study: Study) -> Cases:
    rows = study.read("tables/kobayashi2020-table1.csv").to_dict("records")
    rows = [row for row in rows if not row["relation"].startswith("all")]
    same = sum(row["same"] for row in rows)
    possibly = sum(not row["surely_another"] for row in rows)
    return [Case(*(100 * count / len(rows) for count in (same, same, possibly)))]


def mixing_ratio(study: Study, method: str) -> Cases:
    rows = study.read("tables/kobayashi2021-mixing.csv").to_dict("records")
    (row,) = (row for row in rows if row["method"] == method and row["layer"] == "all")
    return [Case(row["ratio"], row["ci_low"], row["ci_high"])]


def zeroing_agreement(study: Study, method: str) -> Cases:
    rows = study.read("tables/mohebbi2023-zeroing.csv").to_dict("records")
    (row,) = (row for row in rows if row["measure"] == method and row["layer"] == "all")
    return [Case(*(100 * row[name] for name in ("value", *ENDS)))]
