"""Every rule at its target and beyond it, and verdicts on numbers made for them, by hand."""

import math
from dataclasses import replace

import pytest

from tests.claims.judged import CLAIMS
from workflow_scripts.claims import verdicts
from workflow_scripts.claims.published import Claim
from workflow_scripts.claims.verdicts import Measured, judge, rule_met

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
            assert rule_met(one, interval(low, one.value)) == "yes", one.id
            low = one.value  # a number that is known exactly has no margin
        little = 1e-6 * max(1.0, abs(one.value))
        open_ended = one.rule in ("above", "below")
        for end, outwards in ((low, -little), (high, little)):
            if math.isinf(end):
                continue
            inside = end - outwards if open_ended else end
            assert rule_met(one, interval(inside, inside)) == "yes", one.id
            assert rule_met(one, interval(end + outwards, end + outwards)) == "no", one.id
            if open_ended:
                assert rule_met(one, interval(end, end)) == "no", one.id
            far = end + outwards * 10**9  # so that the interval is wider than any tolerance
            assert rule_met(one, interval(*sorted((inside, far)))) == "undecided", one.id
        statement = replace(one, kind="statement", reference=None)
        middle = one.value + {"above": little, "below": -little}.get(one.rule, 0.0)
        at_target = interval(middle, middle)
        assert judge(statement, at_target, same_model=True) == verdicts.REPRODUCED, one.id
        assert judge(statement, at_target, same_model=False) == verdicts.HOLDS, one.id


@pytest.mark.parametrize(
    ("changes", "ends", "verdict"),
    [
        (ABOVE, (40, 60), verdicts.DIRECTION),
        (ABOVE, (25, 60), verdicts.CANNOT_TELL),
        ({"rule": "below", "reference": 100.0}, (60, 90), verdicts.DIRECTION),
        (WITHIN, (47.5, 53.3), verdicts.REPRODUCED),  # covers 50, +-2.9
        (WITHIN, (46.5, 53), verdicts.CANNOT_TELL),  # covers it, +-3.25
        (WITHIN, (50.1, 53.5), verdicts.CANNOT_TELL),  # does not cover it
        (WITHIN | {"reference": 20.0}, (30, 40), verdicts.DIRECTION),
        (WITHIN | {"reference": 80.0}, (81, 90), verdicts.NOT_REPRODUCED),
        (NOT_BELOW, (-1.1, 3), verdicts.CANNOT_TELL),
        (NOT_BELOW, (-0.9, -0.3), verdicts.NOT_REPRODUCED),
        ({}, (math.nan, math.nan), verdicts.CANNOT_TELL),
        (VALUE, (49, 51), verdicts.NOT_COMPARABLE),
        (VALUE | {"reference": 40.0}, (49, 51), verdicts.DIRECTION),  # though it is the value
        (VALUE | {"reference": 40.0}, (30, 39), verdicts.FAILS),
        (VALUE | {"reference": 40.0}, (30, 50), verdicts.CANNOT_TELL),
    ],
)
def test_verdict(changes: dict, ends: tuple[float, float], verdict: str) -> None:
    """Of the paper's model, but where the claim is a value."""
    same_model = changes.get("kind") != "value"
    assert judge(replace(CLAIM, **changes), interval(*ends), same_model) == verdict


def test_the_side_of_a_value_is_that_of_the_papers_own_baseline() -> None:
    """The paper's head beats its offset, 68; ours beats our offset, which the value does not."""
    value = replace(CLAIM, kind="value", rule="within", value=75.6, to=3.0, reference=68.3)
    assert judge(value, interval(77, 81, reference=75.8), False) == verdicts.DIRECTION
    assert judge(value, interval(73, 75, reference=75.8), False) == verdicts.FAILS
    without = replace(value, reference=None)  # ours alone gives no side
    assert judge(without, interval(77, 81, reference=75.8), False) == verdicts.NOT_COMPARABLE
