"""Measures of Niven and Kao's claims, and the verdicts of whole studies, on small tables."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.made_up import products
from tests.claims.test_verdicts import CLAIM
from workflow_scripts.claims import claim_verdicts, niven, verdicts
from workflow_scripts.claims.claim_verdicts import Comparability, evaluate
from workflow_scripts.claims.published import Claim, read
from workflow_scripts.core.data import cards

TRANSLATOR = "the paper's translator is a Transformer-big for WMT14 En-Fr"
BUILTIN = Path(__file__).parents[2] / "claims/published.csv"


def run(model: str, setup: str, mean: float, **more: object) -> dict:
    row = {"model": model, "setup": setup, "mean": mean, "sd": 2.0, "max": mean + 5, "n": 100}
    return row | {"runs": 4, "degenerate": 1, "split": "test"} | more


def test_the_cue(tmp_path: Path) -> None:
    row = {"data": "original", "split": "train", "cue": "not", "productive": 6, "applicable": 8}
    found = products(tmp_path, niven2019_table2=[row | {"n": 10}])
    (productivity,) = niven.cue(found, "train productivity")
    assert (productivity.value, productivity.n, productivity.reference) == (75, 8, 50)
    (coverage,) = niven.cue(found, "train coverage")
    assert (coverage.value, coverage.low, coverage.high) == (80, 80, 80)


def test_accuracies(tmp_path: Path) -> None:
    rows = [run("BERT", "C, R, W", 70.0), run("BERT", "W", 66.0, sd=20.0)]
    rows += [run("BoV", "C, R, W", 60.0), run("BoV", "W", 60.0)]
    rows += [run("BiLSTM", "C, R, W", 60.0), run("BiLSTM", "W", 62.0)]
    adversarial = [run("BERT", "W", 50.0, trained_on="negated")]
    found = products(tmp_path, niven2019_table3=rows, niven2019_table4=adversarial)
    (full,) = niven.arct_accuracy(found, "table3 BERT full mean")
    # Wilson, 70 of 100; the runs' own interval, 70 ± 1.96, lies within.
    assert (full.low, full.high) == pytest.approx((60.42, 78.11), abs=0.01)
    assert full.about == "test set"
    (warrants,) = niven.arct_accuracy(found, "table3 BERT W mean")
    assert (warrants.low, warrants.high) == pytest.approx((66 - 19.6, 66 + 19.6))
    (highest,) = niven.arct_accuracy(found, "table3 BERT W max")
    assert highest.value == 71
    (failed,) = niven.degenerate_runs(found, "BERT")
    assert (failed.value, failed.n) == (25, 4)
    (chance,) = niven.adversarial(found, "negated")
    assert (chance.case, chance.value, chance.seeds) == ("BERT W", 50, 4)


def test_what_whole_arguments_add(tmp_path: Path) -> None:
    """Of four points all of the input is right on three, in both runs, and warrants on two."""
    row = {"version": "original", "trained_on": "original", "split": "dev", "label": 1}
    rows = [
        row
        | {"family": "bert", "setup": setup, "id": f"p{number}", "seed": seed}
        | {"logit_0": 0.0, "logit_1": 1.0 if number < right else -1.0}
        for setup, right in (("full", 3), ("W", 2))
        for seed in (1, 2)
        for number in range(4)
    ]
    others = [rows[0] | change for change in ({"split": "train"}, {"version": "negated"})]
    found = products(tmp_path, **{"arguments__bert_of_original_of_1": rows + others})
    (left,) = niven.left_to_arguments(found, "")
    assert (left.value, left.n, left.seeds, left.case) == (25, 4, 2, "BERT")
    assert left.about == "dev set, 75.0 and 50.0"
    # A point that differs is sampled between 0 and 3 times of 4 in 95% of the samples.
    assert (left.low, left.high) == (0, 75)


def test_easy_points(tmp_path: Path) -> None:
    row = {"measure": "cue among always right", "runs": "all", "setup": "C, R, W", "n": 40}
    row |= {"n_points": 100, "n_runs": 3, "bert_minus_low": -0.3, "bert_minus_high": -0.1}
    rows = [
        row | {"source": source, "model": model, "split": split, "bert_minus": difference}
        for source, model, split, difference in (
            ("this study", "BERT", "dev", None),
            ("this study", "BoV", "dev", -0.5),
            ("this study", "BoV", "test", -0.2),
            ("Niven and Kao", "BiLSTM", "dev", 0.1),
        )
    ]
    found = products(tmp_path, niven2019_easy=[*rows, rows[2] | {"runs": "not degenerate"}])
    judged = {number.case: number for number in niven.easy_points(found, "")}
    assert judged.keys() == {
        "this study, BoV, all runs",
        "Niven and Kao, BiLSTM, all runs",
        "this study, BoV, without degenerate runs",
    }
    bov = judged["this study, BoV, all runs"]
    assert (bov.value, bov.low, bov.high) == pytest.approx((-20, -30, -10))
    assert (bov.n, bov.seeds, bov.about) == (100, 3, "40 points of BoV, test")


def relation_claim(**changes: object) -> Claim:
    value = {"kind": "value", "rule": "within", "value": 80.0, "to": 5.0, "of": "dobj"}
    return replace(CLAIM, **(value | {"needs": ("trees",)} | changes))


TABLE1 = {"relation": "dobj", "accuracy": 80.0, "ci_low": 78.0, "ci_high": 82.0, "baseline": 40.0}
TABLE1 |= {"head": "1-2", "offset": -2, "n": 400}


def test_what_may_be_compared(tmp_path: Path) -> None:
    found = products(tmp_path, clark2019_table1=[TABLE1])
    for model, trees, verdict, because in (
        ("BERT-base", "real", verdicts.REPRODUCED, ""),
        ("mine", "real", verdicts.DIRECTION, "of another model than BERT-base"),
        ("BERT-base", "silver", verdicts.NOT_COMPARABLE, "silver trees"),
    ):
        (row,) = evaluate(relation_claim(), found, Comparability(model, {"trees": trees}))
        assert row["verdict"] == verdict
        assert row["because"].startswith(because)
        assert (row["ours"], row["n"], row["paper_value"]) == (80, 400, 80)


def test_what_is_not_measured(tmp_path: Path) -> None:
    (row,) = evaluate(relation_claim(), products(tmp_path), Comparability("mine", {}))
    assert (row["verdict"], row["ours"]) == (verdicts.NOT_MEASURED, None)
    assert row["because"] == "the study has no clark2019-table1"


def test_a_task_decides_for_its_own_cases(tmp_path: Path) -> None:
    rows = [
        {"task": task, "split": "dev", "mode": "zero", "metric": "accuracy", "seed": 1, "n": 9}
        | {"effect": 0.0, "ci_low": -1.0, "ci_high": 1.0, "p_corrected": 1.0}
        for task in ("SST-2", "MNLI")
    ]
    losses = [row | {"unit": "head", "loss": 4.9} for row in rows]
    found = products(tmp_path, michel2019_table1=rows, michel2019_power=losses)
    claim = replace(CLAIM, needs=("task",), measure="harmless_heads", of="2")
    study = Comparability("mine", {"sst2": "real", "mnli": "generated"})
    judged = {row["case"]: (row["task"], row["verdict"]) for row in evaluate(claim, found, study)}
    assert judged == {
        "SST-2": ("sst2", verdicts.HOLDS),
        "MNLI": ("mnli", verdicts.NOT_COMPARABLE),
    }


def test_claims_about_other_models_are_not_comparable() -> None:
    claims = {claim.id: claim for claim in read(BUILTIN, claim_verdicts.MEASURES)}
    number = verdicts.Measured(50.0, 49.0, 51.0)
    for name, model, because in (
        ("michel-significant", "BERT-base", TRANSLATOR),
        ("niven-table4-w", "BERT-base", "the paper's model is BERT-large"),
        ("niven-table4-w", "BERT-large", ""),
        ("clark-no-op", "BERT-base", "the masked-LM head is fitted, not the checkpoint's own"),
    ):
        assert Comparability(model, {}).why_not(claims[name], number) == because
    (base, table2) = (claims[f"michel-translation-{name}"] for name in ("base", "table2-last"))
    assert (
        Comparability("m", {"pairs": "generated"}, True).why_not(base, number) == "generated pairs"
    )
    for study in (
        Comparability("m", {"pairs": "real"}),
        Comparability("m", {"pairs": "real"}, True),
    ):
        assert study.why_not(table2, number) == ("" if study.translator else TRANSLATOR)
    own = replace(number, own_head=True)
    assert Comparability("BERT-base", {}).why_not(claims["clark-no-op"], own) == ""


def test_the_table_has_every_claim(tmp_path: Path) -> None:
    """On a study without any chapter nothing is measured, and nothing is dropped."""
    card = {"name": "mine", "architecture": "bert", "n_layers": 2, "n_heads": 2, "hidden_size": 8}
    cards.write_card(card, tmp_path / "model.json")
    out = tmp_path / "claims.csv"
    claim_verdicts.main([BUILTIN], tmp_path / "model.json", [], out, tmp_path / "cases", {})
    table = pd.read_csv(out)
    assert list(table["id"]) == list(pd.read_csv(BUILTIN)["id"])
    assert list(pd.read_parquet(tmp_path / "cases")["id"]) == list(table["id"])
    assert set(table["verdict"]) == {verdicts.NOT_MEASURED}
