"""Every rule at its target and beyond it, and verdicts on numbers made for them, by hand."""

import math
from dataclasses import replace

import pytest

from tests.claims.judged import CLAIMS
from workflow_scripts.claims import claim_verdicts, verdicts
from workflow_scripts.claims.claim_verdicts import row_of
from workflow_scripts.claims.published import Claim
from workflow_scripts.claims.verdicts import Measured, lies

CLAIM = Claim("one", "A", "Table 1", "More than half.", "statement", "BERT-base", "", "%", "above",
              50.0, None, None, (), "relation", "")  # fmt: skip
ABOVE, WITHIN = {"reference": 30.0}, {"rule": "within", "to": 3.0}
VALUE = WITHIN | {"kind": "value"}
NOT_BELOW = {"rule": "not below", "value": 0.0, "to": 1.0}


def interval(low: float, high: float, **more: float) -> Measured:
    return Measured((low + high) / 2, low, high, **more)


def test_each_rule_holds_at_its_target_and_fails_beyond() -> None:
    for one in CLAIMS.values():
        low, high = one.target
        if one.rule == "not below":
            assert lies(one, interval(low, one.value)) == "inside", one.id
            low = one.value  # a number that is known exactly has no margin
        little = 1e-6 * max(1.0, abs(one.value))
        open_ended = one.rule in ("above", "below")
        for end, outwards in ((low, -little), (high, little)):
            if math.isinf(end):
                continue
            inside = end - outwards if open_ended else end
            assert lies(one, interval(inside, inside)) == "inside", one.id
            assert lies(one, interval(end + outwards, end + outwards)) == "outside", one.id
            if open_ended:
                assert lies(one, interval(end, end)) == "outside", one.id
            far = end + outwards * 10**9  # so that the interval is wider than any tolerance
            assert lies(one, interval(*sorted((inside, far)))) == "too wide", one.id


def row(claim: Claim, number: Measured, rests_on: str = verdicts.OTHER_MODEL, **more: str) -> dict:
    """The row of the table; `because` is why the number cannot test the claim."""
    return row_of(claim, number, more.get("because", ""), rests_on)


@pytest.mark.parametrize(
    ("changes", "ends", "found"),
    [
        (ABOVE, (51, 60), verdicts.CARRIES),
        (ABOVE, (40, 49), verdicts.MISSES),  # a miss by less
        (ABOVE, (25, 29), verdicts.FAILS),
        (ABOVE | {"contrary": 20.0}, (25, 29), verdicts.MISSES),
        ({}, (40, 49), verdicts.FAILS),  # the bound is the direction
        ({"rule": "below", "reference": 100.0}, (60, 90), verdicts.MISSES),
        (WITHIN, (47.5, 53.3), verdicts.CARRIES),  # covers 50, +-2.9
        (WITHIN, (46.5, 53), verdicts.UNDERPOWERED),  # covers it, +-3.25
        (WITHIN, (54, 60), verdicts.FAILS),  # the whole tolerance is excluded
        (NOT_BELOW, (-1.1, 3), verdicts.UNDERPOWERED),
        ({}, (40, 60), "interval too wide"),
        (NOT_BELOW, (-0.9, -0.3), verdicts.FAILS),
        ({}, (math.nan, math.nan), "no interval"),
        (VALUE, (49, 51), verdicts.NO_BASELINE),
        (VALUE | {"reference": 40.0}, (49, 51), verdicts.CARRIES),
        (VALUE | {"reference": 49.5}, (49, 51), "not clear of the baseline"),
        (VALUE | {"reference": 40.0}, (30, 39), verdicts.FAILS),
    ],
)
def test_the_word_on_another_model(changes: dict, ends: tuple[float, float], found: str) -> None:
    """The word, or the reason why there is none."""
    of = row(replace(CLAIM, **changes), interval(*ends))
    assert found == of["verdict"] or of["because"].startswith(found)
    words = (verdicts.CARRIES, verdicts.FAILS, verdicts.INCONCLUSIVE, verdicts.NOT_TESTED)
    assert of["verdict"] in words
    assert bool(of["because"]) == (of["verdict"] in words[2:])


def test_the_word_on_the_papers_model() -> None:
    for ends, found in (((51, 60), "reproduced"), ((40, 49), "not reproduced")):
        assert row(CLAIM, interval(*ends), "the paper's model")["verdict"] == found
    assert row(CLAIM, interval(40, 60), "the paper's model")["because"] == "interval too wide"


def test_what_is_not_tested_has_its_reason() -> None:
    found = row(CLAIM, interval(51, 60), because="generated data")
    assert (found["verdict"], found["because"], found["lies"]) == (
        "not tested", "generated data", "inside",
    )  # fmt: skip
    same = "the paper's model"
    for rests_on, expected in ((verdicts.OTHER_MODEL, "not tested"), (same, "not run")):
        found = row_of(CLAIM, None, "not in this study: no data", rests_on)
        assert (found["verdict"], found["because"]) == (expected, "not in this study: no data")


def test_a_count_is_judged_as_a_count() -> None:
    """Fourteen of 16 heads miss 89.7% by less than one head."""
    claim = replace(CLAIM, value=89.7)
    bounds = {"n": 16, "of": "heads", "interval": verdicts.BOUNDS}
    missed = row(claim, Measured(87.5, 75.0, 87.5, **bounds))
    assert missed["because"].endswith("only if all of it were at most 83.45")
    assert row(claim, Measured(81.25, 75.0, 81.25, **bounds))["verdict"] == verdicts.FAILS
    third = bounds | {"n": 6}
    by_one = row(replace(CLAIM, value=50.0), Measured(100 * 2 / 6, 0.0, 100 * 2 / 6, **third))
    assert by_one["verdict"] == verdicts.FAILS
    none = Measured(0.0, 0.0, 0.0, **bounds)  # "above 0 heads" can fail
    assert row(replace(CLAIM, value=0.0, unit="heads"), none)["verdict"] == verdicts.FAILS


def test_the_side_of_a_value_is_that_of_the_papers_own_baseline() -> None:
    """The paper's head beats its offset, 68; ours must beat our offset."""
    value = replace(CLAIM, kind="value", rule="within", value=75.6, to=3.0, reference=68.3)
    assert row(value, interval(76, 78, reference=75.8))["verdict"] == verdicts.CARRIES
    without = replace(value, reference=None)  # ours alone gives no side
    assert row(without, interval(77, 81, reference=75.8))["because"] == verdicts.NO_BASELINE


SIGN = {"value": 0.0}  # "above 0"


@pytest.mark.parametrize(
    ("changes", "of_copies", "found"),
    [
        ({}, (10.0, 11.0, 50.0), verdicts.CARRIES),  # none of them is above 50
        ({}, (10.0, 11.0, 50.6), verdicts.UNTRAINED),  # 51 is 1 above the bound, 50.6 is .6
        ({}, (10.0, 11.0, 50.4), verdicts.CARRIES),
        (ABOVE, (39.0, 50.4), verdicts.UNTRAINED),  # 21 and 20.4 above the reference
        (SIGN, (-9.0, 25.4), verdicts.CARRIES),
        (SIGN, (-9.0, 25.6), verdicts.UNTRAINED),
        (SIGN, (0.1,), verdicts.UNTRAINED),  # one copy shows no spread
        (SIGN, (-0.1,), verdicts.CARRIES),
        ({"rule": "below", "value": 100.0}, (80.2, 81.0), verdicts.CARRIES),  # 40 and 19.8 below
        ({"rule": "below", "value": 100.0}, (79.8, 81.0), verdicts.UNTRAINED),
        (VALUE | {"value": 55.0, "to": 5.0}, (40.0, 70.0), verdicts.UNTRAINED),  # no baseline
        (VALUE | {"value": 55.0, "to": 5.0}, (40.0, 49.0), verdicts.REPRODUCED),
        ({}, (), verdicts.CARRIES),
    ],
)
def test_a_claim_that_untrained_copies_show_half_as_well_is_inconclusive(
    changes: dict, of_copies: tuple[float, ...], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = replace(CLAIM, **changes)
    of = "the paper's model" if claim.kind == "value" else verdicts.OTHER_MODEL
    copies = [row(claim, interval(number, number), of) for number in of_copies]
    monkeypatch.setattr(claim_verdicts, "evaluate", lambda claim, products, _: [copies[products]])
    rows = [row(claim, interval(51, 60), of)]
    claim_verdicts.add_untrained(rows, claim, list(range(len(copies))), None)
    assert found in (rows[0]["verdict"], rows[0]["because"])
    ends = rows[0]["untrained_low"], rows[0]["untrained_high"]
    assert ends == ((min(of_copies), max(of_copies)) if of_copies else (None, None))
