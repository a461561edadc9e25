"""The findings of the page: their words follow the tables, and generated data give none."""

import re

import pytest

from tests.claims.judged import CLAIMS
from workflow_scripts.atlas import findings
from workflow_scripts.atlas.findings import CANDIDATES, MOST, OnClaim, chosen, number

CLAIM = {"id": "michel-prune-40", "case": "SST-2", "ours": "-1.2", "ci_low": "-3.04"}
CLAIM |= {"ci_high": "0.123", "unit": "points", "interval": "", "n": "9", "n_of": "examples"}
CLAIM |= {"seeds": "1", "verdict": "inconclusive", "about": "3 in layer 2"}
ON_CLAIMS = [candidate for candidate in CANDIDATES if isinstance(candidate, OnClaim)]


def position(target: str, attention: float, low: float, high: float) -> dict[str, str]:
    numbers = {"attention": attention, "ci_low": low, "ci_high": high, "n": 30}
    return {"target": target, "head": "1-3"} | {key: str(value) for key, value in numbers.items()}


def relation(name: str, gain: float, low: float, annotation: str = "gold") -> dict[str, str]:
    numbers = {"held_out_gain": gain, "held_out_gain_low": low, "held_out_gain_high": gain + 2}
    about = {"relation": name, "held_out_head": "2-1", "held_out_n": "50"}
    about |= {"annotation": annotation}
    return about | {key: str(value) for key, value in numbers.items()}


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.6, 0.9), "Head 1-3 gives most of its attention to the next token."),
        ((0.4, 0.9), "It is inconclusive whether head 1-3 attends mostly to the next token."),
        ((0.1, 0.5), "No head gives most of its attention to the next or the previous token."),
    ],
)
def test_a_head_at_a_position(ends: tuple[float, float], words: str) -> None:
    rows = [position("previous", 0.05, 0, 0.1), position("next", 0.45, *ends)]
    finding = findings.positional(rows)
    assert finding.sentence == words
    low, high = (f"{100 * end:.1f}" for end in ends)
    which = "" if "1-3" in words else " to the next token by head 1-3"
    assert finding.numbers == f"45.0%{which} ({low} to {high}; n = 30 segments)"
    assert findings.positional([]) is None


def test_relations_above_the_offset() -> None:
    rows = [relation("all", 90, 80), relation("dobj", 9, 5), relation("conj", -8, -10)]
    rows += [relation("poss", 20, -1), relation("expl", 30, 25) | {"held_out_gain_low": ""}]
    finding = findings.syntactic(rows)
    assert finding.sentence.startswith("On 1 of 4 syntactic relations some head is more")
    start = "most on dobj, by head 2-1: +9.0 points (5.0 to 11.0; n = 50"
    assert finding.numbers.startswith(start)
    assert "silver" not in finding.numbers
    assert "silver" in findings.syntactic([relation("dobj", 9, 5, "silver")]).numbers
    assert findings.syntactic([relation("dobj", 9, 5, "generated")]) is None


def test_the_words_follow_the_verdict() -> None:
    (candidate,) = [one for one in ON_CLAIMS if one.id == CLAIM["id"]]
    wanted = {
        "carries over": candidate.holds,
        "does not carry over": candidate.fails,
        "inconclusive": f"It is inconclusive {candidate.open}.",
    }
    for verdict, words in wanted.items():
        (found,) = chosen([CLAIM | {"verdict": verdict}], {}, {})
        assert (found.sentence, found.verdict) == (words, verdict)
    assert chosen([CLAIM | {"verdict": "not tested"}], {}, {}) == []


def test_a_finding_on_one_of_several_cases_names_it() -> None:
    rows = [CLAIM | {"case": "SST-2"}, CLAIM | {"case": "MNLI", "verdict": "not tested"}]
    (finding,) = chosen(rows, {}, {})
    assert finding.sentence.startswith("On SST-2, it is inconclusive whether")
    assert finding.numbers.endswith("; cases without a verdict: 1")
    (finding,) = chosen(rows[:1], {}, {})
    assert finding.sentence.startswith("It is") and "without a verdict" not in finding.numbers


def test_cases_that_differ_are_not_generalised() -> None:
    rows = [CLAIM | {"verdict": verdict} for verdict in ("carries over", "does not carry over")]
    rows += [CLAIM | {"verdict": "not tested", "case": "MNLI"}]
    (finding,) = chosen(rows, {}, {})
    assert finding.sentence.startswith("It differs from case to case whether")
    assert finding.verdict == "carries over, does not carry over"
    assert "MNLI" not in finding.numbers and finding.numbers.count("SST-2") == 2


def test_numbers_have_interval_n_and_seeds() -> None:
    assert number(CLAIM) == "SST-2: -1.2 points (-3.0 to 0.12; n = 9 examples; one seed)"
    percent = CLAIM | {"unit": "% of heads", "interval": "bounds of the count", "seeds": "3"}
    within = "(-3.0 to 0.12: bounds of the count; n = 9 examples)"
    assert number(percent) == f"SST-2: -1.2% of heads {within}"
    words = number(CLAIM, "similarity {about}; difference {ours}")
    assert words.startswith("SST-2: similarity 3 in layer 2; difference -1.2 points (-3.0 to 0.12;")
    exact = CLAIM | {"ci_low": "", "ci_high": "", "n": "", "seeds": "", "case": ""}
    assert number(exact) == "-1.2 points"


def test_what_is_missing_or_generated_is_replaced_by_the_next() -> None:
    claims = [CLAIM | {"id": candidate.id, "verdict": "carries over"} for candidate in ON_CLAIMS]
    tables = {"clark2019-position": [position("next", 0.9, 0.8, 0.95)]}
    first = [one.sentence for one in chosen(claims, tables, {"text": "real"})]
    assert len(first) == MOST and first[0].startswith("Head 1-3")
    generated = [one.sentence for one in chosen(claims, tables, {"text": "generated"})]
    assert generated == [candidate.holds for candidate in ON_CLAIMS[:MOST]]
    assert generated[:-1] == first[1:]
    tables = {"clark2019-position": [position("next", 0.5, 0.4, 0.6)]}
    open_one = [one.sentence for one in chosen(claims[:2], tables, {"text": "real"})]
    assert len(open_one) == 3 and "inconclusive" in open_one[-1]  # what was found stands first
    unjudged = {"verdict": "not tested"}
    claims[0] |= unjudged
    replaced = [one.sentence for one in chosen(claims, {}, {})]
    assert replaced == [candidate.holds for candidate in ON_CLAIMS[1 : MOST + 1]]


def test_candidates_name_claims_and_no_number_of_a_study() -> None:
    for candidate in ON_CLAIMS:
        assert CLAIMS[candidate.id].kind == "statement" and CLAIMS[candidate.id].central
        assert candidate.open.startswith("whether ")
        said = set(re.findall(r"\d+", candidate.holds + candidate.fails + candidate.open))
        rule = f"{CLAIMS[candidate.id].value:g} {CLAIMS[candidate.id].statement}"
        assert said <= set(re.findall(r"\d+", rule)), candidate.id
