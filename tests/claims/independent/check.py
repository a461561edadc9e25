"""The comparison of a claims table with what is computed a second time."""

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pandas as pd

from tests.claims.independent import clark, decoders, kovaleva, michel, niven, norms, translators
from tests.claims.independent.study import Case, Missing, Study
from tests.claims.independent.verdict import is_own, verdict

FOLDER = Path(__file__).parents[3] / "claims"
ENCODERS = tuple(sorted({path.stem for path in FOLDER.glob("*.csv")} - {"decoders"}))
PAPERS = (clark, decoders, kovaleva, michel, niven, norms, translators)
PRECISION = 2e-4  # of numbers printed with six digits
OF_DATA = {"cue", "adjacent_links"}  # no number of a model that the study trains


def claims_in(*files: str) -> list[dict[str, str]]:
    """The rows of files of claims."""
    rows = []
    for name in files:
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows


MEASURES = {claim["measure"] for claim in claims_in(*ENCODERS, "decoders")}
RECOMPUTED = {
    name: function for paper in PAPERS for name, function in vars(paper).items() if name in MEASURES
}


def checked(
    table: pd.DataFrame,
    study: Study,
    model: str,
    data: Mapping[str, str],
    files: tuple[str, ...] = ENCODERS,
    translator: bool = False,
) -> dict[str, set[str]]:
    """Assert each row of a claims table; the ids of measured claims, by measure."""
    assert not table.duplicated(["id", "case"]).any()
    found: dict[str, set[str]] = {}
    for claim in claims_in(*files):
        rows = table[table["id"] == claim["id"]]
        cases = cases_of(claim, study)
        if not cases:
            none = "not run" if is_own(claim, model, translator) else "not tested"
            assert list(rows["verdict"]) == [none], claim["id"]
            continue
        found.setdefault(claim["measure"], set()).add(claim["id"])
        cells = rows.assign(case=rows["case"].astype(object).fillna(""))
        printed = {row["case"]: row for row in cells.to_dict("records")}
        assert printed.keys() == {case.case for case in cases}, claim["id"]
        for case in cases:
            check(printed[case.case], claim, case)
            # The interval of another bootstrap may end on the other side of the rule's bound.
            row = printed[case.case]
            numbers = {"value": row["ours"], "low": row["ci_low"], "high": row["ci_high"]}
            if str(row["interval"]).startswith("bounds of the count"):
                numbers["bounds"] = 100 / row["n"] if claim["unit"][:1] == "%" else 1.0
            expected = verdict(claim, replace(case, **numbers), model, data, translator)
            where = f"{claim['id']} {case.case}"
            assert row["verdict"] == expected, f"{where}: {row['verdict']}, not {expected}"
    return found


def check(row: Mapping, claim: Mapping[str, str], case: Case) -> None:
    """Assert the number of a row, its interval and what is stated of both."""
    where = f"{claim['id']} {case.case}"
    for name, ours in (("ours", case.value), ("ci_low", case.low), ("ci_high", case.high)):
        near = PRECISION * max(1, abs(ours)) + (case.near if name != "ours" else 0)
        assert same(row[name], ours, near), f"{where}: {name} {row[name]}, not {ours}"
    if claim["reference"] == "" or case.reference is not None:
        assert same(row["reference"], case.reference, PRECISION * 100), where
    for name, stated in (("seeds", case.seeds), ("interval", case.interval)):
        if stated is not None:
            printed = row[name] if pd.notna(row[name]) else ""
            assert printed == stated, f"{where}: {name} {printed}, not {stated}"
    if {"task", "arct"} & {*claim["needs"].split()} and claim["measure"] not in OF_DATA:
        assert row["seeds"] >= 1, where


def cases_of(claim: Mapping[str, str], study: Study) -> list[Case]:
    """The recomputed cases of a claim; none where the study lacks what they need."""
    function = RECOMPUTED[claim["measure"]]
    names = [name for name in signature(function).parameters if claim.get(name)]
    try:
        return list(function(study, **{name: claim[name] for name in names}))
    except Missing:
        return []


def same(printed: float, ours: float | None, near: float) -> bool:
    """Whether two numbers are the same, or both are missing."""
    if ours is None or math.isnan(ours):
        return bool(pd.isna(printed))
    return abs(printed - ours) <= near
