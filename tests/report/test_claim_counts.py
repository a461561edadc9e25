"""Claims are counted once each, and generated data give no verdict."""

from workflow_scripts.claims.verdicts import VERDICTS
from workflow_scripts.report.claim_counts import DIFFERS, JUDGED, counted


def rows(*cases: tuple[str, str, str]) -> list[dict[str, str]]:
    return [dict(zip(("id", "verdict", "rule_met"), case, strict=True)) for case in cases]


def test_the_verdicts_are_those_of_the_claims() -> None:
    assert set(VERDICTS) - set(JUDGED) == {"not comparable", "not measured"}


def test_a_claim_is_counted_once() -> None:
    counts = counted(
        rows(
            ("one", "holds here", "yes"),
            ("one", "holds here", "yes"),
            ("one", "not comparable", "no"),
            ("two", "holds here", "yes"),
            ("two", "cannot tell", "undecided"),
            ("three", "not comparable", "yes"),
            ("three", "not comparable", "yes"),
            ("four", "not comparable", "yes"),
            ("four", "not comparable", "no"),
            ("four", "not measured", ""),
            ("five", "not measured", ""),
            ("five", "not measured", ""),
        )
    )
    assert counts.verdicts == {"holds here": 1, DIFFERS: 1}
    assert (counts.judged, counts.unjudged, counts.not_run) == (2, 2, 1)
    assert counts.rule_met == {"yes": 1, "undecided": 1}


def test_a_table_that_does_not_state_whether_rules_are_met() -> None:
    counts = counted([{"id": "one", "verdict": "not comparable"}])
    assert counts.unjudged == 1 and counts.rule_met.total() == 0
