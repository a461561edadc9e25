"""Every verdict on numbers made for it, by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest

from workflow_scripts.claims import verdicts
from workflow_scripts.claims.published import Claim
from workflow_scripts.claims.verdicts import Measured, judge, rule_met

CLAIM = Claim(
    id="one",
    paper="A",
    place="Table 1",
    statement="More than half.",
    kind="statement",
    model="BERT-base",
    data="",
    unit="%",
    rule="above",
    value=50.0,
    to=None,
    reference=None,
    needs=(),
    measure="relation",
    of="",
    later="",
)


def claim(**changes: Any) -> Claim:
    return replace(CLAIM, **changes)


@pytest.mark.parametrize(
    ("changes", "interval", "verdict"),
    [
        ({}, (51, 60), verdicts.REPRODUCED),
        ({}, (50, 60), verdicts.CANNOT_TELL),  # the bound itself is not above it
        ({}, (40, 50), verdicts.NOT_REPRODUCED),
        ({}, (50, 50), verdicts.NOT_REPRODUCED),
        ({"reference": 30.0}, (40, 45), verdicts.DIRECTION),
        ({"reference": 30.0}, (40, 60), verdicts.DIRECTION),
        ({"reference": 30.0}, (25, 60), verdicts.CANNOT_TELL),
        ({"reference": 30.0}, (25, 45), verdicts.NOT_REPRODUCED),
        ({"rule": "below"}, (40, 49), verdicts.REPRODUCED),
        ({"rule": "below", "reference": 100.0}, (60, 90), verdicts.DIRECTION),
        ({"rule": "below", "reference": 100.0}, (90, 110), verdicts.NOT_REPRODUCED),
        ({"rule": "within", "to": 3.0}, (47, 53), verdicts.REPRODUCED),
        ({"rule": "within", "to": 3.0}, (46, 49.9), verdicts.CANNOT_TELL),
        ({"rule": "within", "to": 3.0}, (47.5, 53.3), verdicts.REPRODUCED),  # covers 50, +-2.9
        ({"rule": "within", "to": 3.0}, (46.5, 53), verdicts.CANNOT_TELL),  # covers it, +-3.25
        ({"rule": "within", "to": 3.0}, (50.1, 53.5), verdicts.CANNOT_TELL),  # does not cover it
        ({"rule": "within", "to": 3.0}, (53.1, 60), verdicts.NOT_REPRODUCED),
        ({"rule": "not below", "value": 0.0, "to": 1.0}, (-0.9, 0.1), verdicts.REPRODUCED),
        ({"rule": "not below", "value": 0.0, "to": 1.0}, (1, 2), verdicts.REPRODUCED),
        ({"rule": "not below", "value": 0.0, "to": 1.0}, (-1.1, 3), verdicts.CANNOT_TELL),
        ({"rule": "not below", "value": 0.0, "to": 1.0}, (-0.9, -0.3), verdicts.NOT_REPRODUCED),
        ({"rule": "within", "to": 3.0, "reference": 20.0}, (30, 40), verdicts.DIRECTION),
        ({"rule": "within", "to": 3.0, "reference": 80.0}, (60, 70), verdicts.DIRECTION),
        ({"rule": "within", "to": 3.0, "reference": 80.0}, (81, 90), verdicts.NOT_REPRODUCED),
        ({"rule": "between", "value": 32.0, "to": 61.0}, (32, 61), verdicts.REPRODUCED),
        ({"rule": "between", "value": 32.0, "to": 61.0}, (30, 61), verdicts.CANNOT_TELL),
        ({"rule": "between", "value": 32.0, "to": 61.0}, (10, 31), verdicts.NOT_REPRODUCED),
        ({}, (math.nan, math.nan), verdicts.CANNOT_TELL),
    ],
)
def test_verdict(changes: dict, interval: tuple[float, float], verdict: str) -> None:
    measured = Measured(sum(interval) / 2, *interval)
    assert judge(claim(**changes), measured, same_model=True) == verdict


@pytest.mark.parametrize(
    ("interval", "met"),
    [
        ((51, 60), "yes"),
        ((40, 50), "no"),
        ((45, 55), "undecided"),
        ((math.nan, math.nan), "undecided"),
    ],
)
def test_rule_met(interval: tuple[float, float], met: str) -> None:
    """A reference has no part in it: "same direction" is a verdict."""
    measured = Measured(sum(interval) / 2, *interval, reference=30.0)
    assert rule_met(CLAIM, measured) == met


def test_another_model_does_not_reproduce_a_statement() -> None:
    assert judge(CLAIM, Measured(55.0, 51.0, 60.0), same_model=False) == verdicts.HOLDS
    assert judge(CLAIM, Measured(45.0, 40.0, 49.0), same_model=False) == verdicts.FAILS
    assert judge(CLAIM, Measured(50.0, 40.0, 60.0), same_model=False) == verdicts.CANNOT_TELL


@pytest.mark.parametrize(
    ("reference", "interval", "verdict"),
    [
        (None, (86, 87), verdicts.NOT_COMPARABLE),
        (40.0, (86, 87), verdicts.DIRECTION),  # although it is the value itself
        (40.0, (41, 60), verdicts.DIRECTION),
        (40.0, (30, 39), verdicts.FAILS),
        (40.0, (30, 50), verdicts.CANNOT_TELL),
    ],
)
def test_a_value_of_another_model(
    reference: float | None, interval: tuple[float, float], verdict: str
) -> None:
    value = claim(kind="value", rule="within", value=86.8, to=3.0, reference=reference)
    measured = Measured(sum(interval) / 2, *interval)
    assert judge(value, measured, same_model=False) == verdict


def test_the_side_of_a_value_is_that_of_the_papers_own_baseline() -> None:
    """The paper's head beats its offset, 68; ours beats our offset, which the value does not."""
    value = claim(kind="value", rule="within", value=75.6, to=3.0, reference=68.3)
    ours = Measured(79.4, 77.4, 81.4, reference=75.8)
    assert judge(value, ours, same_model=False) == verdicts.DIRECTION
    worse = Measured(74.0, 73.0, 75.0, reference=75.8)
    assert judge(value, worse, same_model=False) == verdicts.FAILS


def test_our_own_baseline_gives_a_value_no_side() -> None:
    """3.89 nats are above our layers' mean of 3, and below one of 4.5."""
    value = claim(kind="value", rule="within", value=3.89, to=0.2)
    for baseline in (3.0, 4.5):
        ours = Measured(4.2, 4.1, 4.3, reference=baseline)
        assert judge(value, ours, same_model=False) == verdicts.NOT_COMPARABLE
        assert judge(value, ours, same_model=True) == verdicts.NOT_REPRODUCED


def test_our_own_baseline_comes_before_the_reference_of_the_claim() -> None:
    measured = Measured(45.0, 44.0, 46.0, reference=47.0)
    assert judge(claim(reference=30.0), measured, same_model=True) == verdicts.NOT_REPRODUCED


def test_a_single_number_has_no_interval() -> None:
    measured = Measured(60.0, math.nan, math.nan)
    assert judge(CLAIM, measured, same_model=True) == verdicts.CANNOT_TELL
