"""What is stated about decoders: each measure by hand, and for each rule a result that fails it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.claims.made_up import Row, products
from workflow_scripts.claims.claim_verdicts import MEASURES, Comparability, evaluate
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.published import read
from workflow_scripts.claims.verdicts import FAILS, HOLDS, Measured

ROOT = Path(__file__).parents[2]
CLAIMS = {claim.id: claim for claim in read(ROOT / "claims/decoders.csv", MEASURES)}
OF = "induction zero second copy"


def role(head: int, found: bool, confirmed: bool = False, name: str = "induction") -> Row:
    about = {"layer": 0, "head": head, "role": name, "n": 20, "ci_low": 0.0, "ci_high": 1.0}
    return about | {"score": 0.9 - head / 10, "has_role": found, "confirmed": confirmed}


def copying(head: int, logit: float) -> Row:
    about = {"layer": 0, "head": head, "role": "copying", "n": 20, "has_role": logit > 0}
    return about | {"logit": logit, "top": 0.5}


def together(measure: str, value: float, first: str = "text") -> Row:
    ends = {"ci_low": value - 0.02, "ci_high": value + 0.02}
    about = {"first": first, "measure": measure, "value": value, "n": 50, "n_documents": 30}
    about |= {"threshold": 0.3}
    return about | ends


def causal(margin: float, half: float = 0.5) -> Row:
    about = {"role": "induction", "mode": "zero", "chosen": "all", "text": "second copy", "n": 20}
    losses = {"intact": 3.3, "loss": 12.06, "random": 4.0, "n_heads": 8, "note": ""}
    losses |= {
        "random_max": 12.06 - margin,
        "n_samples": 20,
        "excess": 8.06,
        "excess_low": 8.0,
        "p": 1 / 21,
    }
    ends = {"margin_low": margin - half, "margin_high": margin + half}
    return about | losses | {"margin": margin} | ends


def rho(value: float, half: float) -> Row:
    ends = {"ci_low": value - half, "ci_high": value + half, "n": 270, "n_groups": 90}
    return {"of": "eigenvalue", "with": "copying", "rho": value} | ends


def retrieval(head: int, found: bool, sure: bool = False, possible: bool = False) -> Row:
    about = {"layer": 0, "head": head, "role": "retrieval", "n": 20, "has_role": found}
    about |= {"p_corrected": 0.01 if found else 1.0, "others": 0.0}
    return about | {"score": 0.15, "ci_low": 0.05 + 0.1 * sure, "ci_high": 0.05 + 0.2 * possible}


def one(number: list[Measured]) -> tuple[Any, ...]:
    (found,) = number
    return found.value, found.low, found.high, found.n


def test_heads_with_a_role(tmp_path: Path) -> None:
    rows = [role(0, True, True), role(1, True), role(2, False), role(0, True, name="previous")]
    found = MEASURES["heads_with_role"](products(tmp_path, battery__roles=rows), "induction")
    assert one(found) == (2, 1, 2, 3)
    assert found[0].about == "1-1 1-2"


def test_the_loss_without_a_roles_heads(tmp_path: Path) -> None:
    rows = [causal(6.06), causal(1.0) | {"chosen": "strongest 8"}, causal(1.0) | {"mode": "mean"}]
    made = products(tmp_path, battery_causal=rows)
    found = MEASURES["excess_loss"](made, OF)
    assert one(found) == pytest.approx((6.06, 5.56, 6.56, 20))
    assert found[0].about == (
        "8 heads; intact 3.30 nats, without them 12.06, without random ones 4.00, "
        "in the worst of 20 samples 6.00; p = 0.048 by the rank among the samples, which the "
        "interval holds fixed"
    )


def test_a_role_without_heads_has_no_loss(tmp_path: Path) -> None:
    row = causal(0.0) | {"margin": None, "note": "no head has this role"}
    made = products(tmp_path, battery_causal=[row])
    with pytest.raises(NotMeasured, match="induction: no head has this role"):
        MEASURES["excess_loss"](made, OF)


def more_often(copying: set[int], of_role: set[int], shared: int, n: int) -> list[float]:
    """The difference of two shares of heads, in points, with its interval, head by head."""

    def difference(heads: list[int]) -> float | None:
        one = [head in copying for head in heads if head in of_role]
        other = [head in copying for head in heads if head not in of_role]
        return 100 * (sum(one) / len(one) - sum(other) / len(other)) if one and other else None

    drawn = np.random.default_rng(1).multinomial(n // shared, [shared / n] * (n // shared), 1000)
    values = [
        difference([g * shared + k for g in range(len(times)) for k in range(shared)
                    for _ in range(times[g])])
        for times in drawn
    ]  # fmt: skip
    low, high = np.percentile([value for value in values if value is not None], (2.5, 97.5))
    value = difference(list(range(n)))
    return [value, min(value, low), max(value, high)]


def copying_study(folder: Path, copy: set[int], of_role: set[int], shared: int, n: int) -> Products:
    """`n` heads of one layer, each `shared` of which have keys and values in common."""
    return products(
        folder,
        battery__roles=[role(head, head in of_role) for head in range(n)],
        battery__copying=[copying(head, 1.0 if head in copy else -1.0) for head in range(n)],
        battery_correlations=[rho(0.4, 0.1) | {"n": n, "n_groups": n // shared}],
    )


# Of 60 heads in groups of three, two in every third group have the role: 0, 1, 9, 10, 18 and so on.
ROLE = {head for head in range(60) if head % 9 < 2}
OTHERS = set(range(60)) - ROLE


@pytest.mark.parametrize(
    ("copy", "verdict"),
    [(ROLE - {0, 1} | {2, 3}, HOLDS), (OTHERS - {2, 3}, FAILS), ({0, 9} | {2, 3, 4}, "cannot tell"),
     (set(), FAILS)],
    ids=["more", "fewer", "as many", "no heads"],
)  # fmt: skip
def test_copying_among_the_heads_of_a_role(tmp_path: Path, copy: set[int], verdict: str) -> None:
    made = copying_study(tmp_path, copy, ROLE, 3, 60)
    found = MEASURES["copying_among"](made, "induction")
    assert one(found) == pytest.approx((*more_often(copy, ROLE, 3, 60), 60))
    assert found[0].about == (
        f"{len(copy & ROLE)} of 14 heads copy, and {len(copy & OTHERS)} of 46 others; "
        "the role is in 7 of 20 groups"
    )
    assert found[0].interval == "95% over groups of heads that share keys and values"
    (row,) = evaluate(CLAIMS["olsson-copying"], made, Comparability("smollm2", {}))
    assert row["verdict"] == verdict


def test_heads_that_share_keys_and_values_count_once(tmp_path: Path) -> None:
    """Where all heads of a group are equal the interval is that of one head of each."""
    groups, of_role = {0, 1, 2, 7, 9}, {0, 1, 2, 3}
    copy, roles = ({3 * g + k for g in of for k in range(3)} for of in (groups, of_role))
    shared = copying_study(tmp_path / "three", copy, roles, 3, 60)
    single = copying_study(tmp_path / "one", groups, of_role, 1, 20)
    found = [one(MEASURES["copying_among"](made, "induction"))[:3] for made in (shared, single)]
    assert found[0] == pytest.approx(found[1])


def test_heads_of_one_group_tell_nothing(tmp_path: Path) -> None:
    made = copying_study(tmp_path, {0, 1}, {0, 1}, 3, 60)
    (row,) = evaluate(CLAIMS["olsson-copying"], made, Comparability("smollm2", {}))
    assert row["verdict"] == "cannot tell" and row["ours"] == 100
    for of_role in (set(), set(range(60))):
        made = copying_study(tmp_path / str(len(of_role)), {0}, of_role, 3, 60)
        with pytest.raises(NotMeasured, match=f"{len(of_role)} of 60 heads have the role"):
            MEASURES["copying_among"](made, "induction")


@pytest.mark.parametrize(
    ("id_", "value", "half", "verdict"),
    [("elhage-eigenvalues", 0.4, 0.1, HOLDS), ("elhage-eigenvalues", -0.4, 0.1, FAILS),
     ("elhage-eigenvalues", 0.05, 0.1, "cannot tell"), ("olsson-knock-out", 6.0, 0.5, HOLDS),
     ("olsson-knock-out", -0.1, 0.05, FAILS), ("olsson-knock-out", 0.1, 0.5, "cannot tell")],
)  # fmt: skip
def test_rules_at_numbers_with_intervals(
    tmp_path: Path, id_: str, value: float, half: float, verdict: str
) -> None:
    tables = {"battery_causal": [causal(value, half)], "battery_correlations": [rho(value, half)]}
    made = products(tmp_path, **tables)
    (row,) = evaluate(CLAIMS[id_], made, Comparability("smollm2", {}))
    assert row["verdict"] == verdict


@pytest.mark.parametrize(
    ("sure", "role", "possible", "verdict"),
    [(1, 2, 3, HOLDS), (6, 8, 9, FAILS), (2, 4, 9, "cannot tell")],
)
def test_the_share_of_retrieval_heads(
    tmp_path: Path, sure: int, role: int, possible: int, verdict: str
) -> None:
    rows = [retrieval(head, head < role, head < sure, head < possible) for head in range(100)]
    made = products(tmp_path, battery__retrieval=rows)
    assert one(MEASURES["retrieval_share"](made, "retrieval")) == (role, sure, possible, 100)
    (row,) = evaluate(CLAIMS["wu-sparse"], made, Comparability("smollm2", {}))
    assert row["verdict"] == verdict


def test_retrieval_heads_are_counted_at_the_papers_threshold(tmp_path: Path) -> None:
    """In a study with a lower threshold, a higher one, and where other tokens score more."""
    rows = [retrieval(0, True), retrieval(1, True) | {"score": 0.05, "ci_low": 0.03}]
    rows += [retrieval(2, True) | {"has_role": False}, retrieval(3, True) | {"others": 0.3}]
    made = products(tmp_path, battery__retrieval=rows)
    assert one(MEASURES["retrieval_share"](made, "retrieval"))[0] == 50


def test_sinks_at_another_threshold_are_no_measure_of_the_claim(tmp_path: Path) -> None:
    rows = [together("sinks", 0.76, first) | {"threshold": 0.01} for first in ("text", "random")]
    made = products(tmp_path, battery_sinks=rows)
    for first in ("text", "random"):
        with pytest.raises(NotMeasured, match=r"the threshold is 0\.01, not 0\.3"):
            MEASURES["sinks"](made, first)
    for id_ in ("gu-sinks", "gu-any-token"):
        (row,) = evaluate(CLAIMS[id_], made, Comparability("smollm2", {}))
        assert row["verdict"] == "not measured"


def test_the_first_token_of_all_heads(tmp_path: Path) -> None:
    rows = [together("sinks", 0.76), together("attention", 0.47), together("by_norm", 0.26)]
    made = products(tmp_path, battery_sinks=[*rows, together("sinks", 0.5, "random")])
    assert one(MEASURES["sinks"](made, "text")) == pytest.approx((76, 74, 78, 30))
    assert one(MEASURES["sinks"](made, "random")) == pytest.approx((50, 48, 52, 30))
    found = MEASURES["norm_less_weight"](made, "text")
    assert one(found) == pytest.approx((-21, -25, -17, 30))
    assert found[0].about == "26% by norm, 47% of the weight"


def modes(agree: float, opposite: float) -> Row:
    about = {"task": "text", "of": "loss", "one": "zero", "other": "resample", "n_heads": 10}
    about |= {"n": 24, "n_documents": 19, "rho": agree, "halves_one": 0.9, "halves_other": 0.9}
    about |= {"opposite_nominal": round(100 * opposite), "both_nominal": 100}
    return about | {"rho_low": agree - 0.1, "rho_high": agree + 0.1}


def attribution(estimate: str, good: bool, against: str = "effect") -> Row:
    row = {
        "task": "text",
        "estimate": estimate,
        "against": against,
        "n": 24,
        "n_documents": 19,
        "n_heads": 270,
    }
    row |= {"first": 54, "top": 27, "top_missed": 1.0 if good else 20.0}
    row |= {f"top_missed_{end}": row["top_missed"] for end in ("low", "high")}
    return row | dict.fromkeys(("rho", "rho_low", "rho_high"), 0.8 if good else 0.2)


def by_mode(head: int, in_all: bool) -> Row:
    verdict = "in all modes" if in_all else "depends on the mode"
    about = {"task": "text", "of": "loss", "layer": 0, "head": head}
    signs = {"zero": 1.0, "resample": 1.0 if in_all else -1.0}
    ends = {f"{end}_{mode}": sign + by for mode, sign in signs.items()
            for end, by in (("low", -0.1), ("high", 0.1))}  # fmt: skip
    return about | {"verdict": verdict} | ends


def study(folder: Path, good: bool) -> Products:
    """A study in which every statement holds, or none."""
    roles = [role(head, head < 8, confirmed=True) for head in range(60)]
    logits = [copying(head, 1.0 if (head < 8) == good else -1.0) for head in range(60)]
    weight = (0.5, 0.2) if good else (0.2, 0.5)
    share = 0.7 if good else 0.05
    first = [together("attention", weight[0]), together("by_norm", weight[1])]
    first += [together("sinks", share), together("sinks", share, "random")]
    first_token = {"layer": 0, "head": 0, "target": "first", "n": 300}
    by_way = [first_token | {"attention": x, "ci_low": x, "ci_high": x} for x in weight]
    mixed = {"method": "residual", "layer": "all", "n": 90}
    mixed |= dict.fromkeys(("ratio", "ci_low", "ci_high"), 20.0 if good else 70.0)
    zeroed = [
        {"measure": of, "layer": "all", "n": 50}
        | dict.fromkeys(("value", "ci_low", "ci_high"), 0.2 if good else 0.7)
        for of in ("top_weights", "top_norms")
    ]
    return products(
        folder,
        kobayashi2021_mixing=[mixed],
        mohebbi2023_zeroing=zeroed,
        surface__special_tokens=by_way[:1],
        mixing__special_tokens=by_way[1:],
        battery__roles=roles,
        battery__copying=logits,
        battery_sinks=first,
        battery_causal=[causal(8.0 if good else -8.0)],
        battery_correlations=[rho(0.5 if good else -0.5, 0.1)],
        battery__retrieval=[retrieval(head, not good, sure=not good) for head in range(60)],
        next_token_modes=[modes(0.8, 0.02) if good else modes(0.2, 0.3)],
        next_token_mode_heads=[by_mode(head, good) for head in range(10)],
        next_token_attribution=[
            *(attribution(estimate, good) for estimate in ("zero", "resample", "importance")),
            attribution("importance", good, "size"),
        ],
    )


@pytest.mark.parametrize("id_", CLAIMS)
def test_every_rule_can_hold_and_fail(tmp_path: Path, id_: str) -> None:
    for good, verdict in ((True, HOLDS), (False, FAILS)):
        made = study(tmp_path / str(good), good)
        if id_ == "olsson-induction-heads" and not good:
            made = products(tmp_path / "none", battery__roles=[role(0, found=False)])
        (row,) = evaluate(CLAIMS[id_], made, Comparability("smollm2", {}))
        assert row["verdict"] == verdict, row


def test_generated_text_gets_no_verdict(tmp_path: Path) -> None:
    made = study(tmp_path, good=True)
    open_to = {
        id_: evaluate(claim, made, Comparability("smollm2", {"text": "generated"}))[0]["verdict"]
        for id_, claim in CLAIMS.items()
    }
    of_text = {id_ for id_, claim in CLAIMS.items() if "text" in claim.needs}
    assert {id_ for id_, verdict in open_to.items() if verdict == "not comparable"} == of_text
