"""The comparison of a claims table with what is computed a second time."""

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from tests.claims.independent import (
    attribution,
    clark,
    kobayashi,
    kovaleva,
    kovaleva_disabling,
    michel,
    modes,
    niven,
    translation,
)
from tests.claims.independent.study import Case, Missing, Study
from tests.claims.independent.verdict import verdict

CLAIMS = Path(__file__).parents[3] / "claims/published.csv"
RECOMPUTED: dict[str, Callable[[Study, str], list[Case]]] = {
    name: function
    for paper in (
        attribution,
        clark,
        kobayashi,
        kovaleva,
        kovaleva_disabling,
        michel,
        modes,
        niven,
        translation,
    )
    for name, function in paper.RECOMPUTED.items()
}
PRECISION = 2e-4  # of numbers printed with six digits


def checked(
    table: pd.DataFrame,
    study: Study,
    model: str,
    data: Mapping[str, str],
    translator: bool = False,
) -> dict[str, set[str]]:
    """Assert each row of a claims table whose measure is recomputed; ids found, by measure."""
    with CLAIMS.open(encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file))
    assert not table.duplicated(["id", "case"]).any()
    found: dict[str, set[str]] = {}
    for claim in claims:
        if claim["measure"] not in RECOMPUTED:
            continue
        rows = table[table["id"] == claim["id"]]
        cases = cases_of(claim, study)
        if not cases:
            assert list(rows["verdict"]) == ["not measured"], claim["id"]
            continue
        found.setdefault(claim["measure"], set()).add(claim["id"])
        printed = {row["case"]: row for row in rows.fillna({"case": ""}).to_dict("records")}
        assert printed.keys() == {case.case for case in cases}, claim["id"]
        for case in cases:
            row = printed[case.case]
            where = f"{claim['id']} {case.case}"
            for name, ours in (("ours", case.value), ("ci_low", case.low), ("ci_high", case.high)):
                near = PRECISION * max(1, abs(ours)) + (case.near if name != "ours" else 0)
                assert same(row[name], ours, near), f"{where}: {name} {row[name]}, not {ours}"
            if claim["reference"] == "" or case.reference is not None:
                assert same(row["reference"], case.reference, PRECISION * 100), where
            for name, ours in (("seeds", case.seeds), ("interval", case.interval)):
                if ours is not None:
                    found_here = row[name] if pd.notna(row[name]) else ""
                    assert found_here == ours, f"{where}: {name} {found_here}, not {ours}"
            # The interval of another bootstrap may end on the other side of the rule's bound.
            numbers = {"value": row["ours"], "low": row["ci_low"], "high": row["ci_high"]}
            expected = verdict(claim, replace(case, **numbers), model, data, translator)
            assert row["verdict"] == expected, f"{where}: {row['verdict']}, not {expected}"
    return found


def cases_of(claim: Mapping[str, str], study: Study) -> list[Case]:
    """The recomputed cases of a claim; none where the study lacks what they need."""
    try:
        return RECOMPUTED[claim["measure"]](study, claim["of"])
    except Missing:
        return []


def same(printed: float, ours: float | None, near: float) -> bool:
    """Whether two numbers are the same, or both are missing."""
    if ours is None or math.isnan(ours):
        return bool(pd.isna(printed))
    return abs(printed - ours) <= near
