"""Measures of Niven and Kao's claims, and the verdicts of whole studies, on small tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.claims.made_up import products
from tests.claims.test_verdicts import CLAIM
from workflow_scripts.claims import claim_verdicts, niven, verdicts
from workflow_scripts.claims.claim_verdicts import Comparability, evaluate
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.published import Claim, read
from workflow_scripts.core.data import cards

PAPER_MODEL = "the paper's model"
TRANSLATOR = "the paper's translator is a Transformer-big for WMT14 En-Fr"
BUILTIN = Path(__file__).parents[2] / "claims/published.csv"


def run(model: str, setup: str, mean: float, **more: object) -> dict:
    row = {"model": model, "setup": setup, "mean": mean, "sd": 2.0, "max": mean + 5, "n": 100}
    row |= {"median": mean + 1, "others_mean": mean + 2, "others_sd": 2.0}
    return row | {"runs": 4, "degenerate": 1, "split": "test"} | more


def test_the_cue(tmp_path: Path) -> None:
    row = {"data": "original", "split": "train", "cue": "not", "productive": 6, "applicable": 8}
    found = products(tmp_path, niven2019_table2=[row | {"n": 10}, row | {"n": 10, "split": "all"}])
    (productivity,) = niven.cue(found, "train productivity")
    assert (productivity.value, productivity.n, productivity.reference) == (75, 8, 50)
    (coverage,) = niven.cue(found, "train coverage")
    assert (coverage.value, coverage.low, coverage.high) == (80, 80, 80)
    assert (coverage.interval, coverage.not_comparable) == ("exact count", "")
    (whole,) = niven.cue(found, "all coverage")
    assert whole.not_comparable == "the study lacks the test set"


def test_accuracies(tmp_path: Path) -> None:
    rows = [run("BERT", "C, R, W", 70.0), run("BERT", "W", 66.0, runs=1, sd=None, degenerate=0)]
    rows += [run("BERT", "R, W", 50.0, degenerate=4, others_mean=None, others_sd=None)]
    rows += [run("BoV", "W", 60.0, degenerate=0, split="dev")]
    found = products(tmp_path, niven2019_table3=rows)
    (full,) = niven.arct_accuracy(found, "table3 BERT full mean")
    # Wilson, 70 of 100: 60.42 to 78.11; Student's over 4 runs: 3.182 * 2 / 2 = 3.18 to each side.
    assert (full.low, full.high) == pytest.approx(
        (70 - (9.58**2 + 3.18**2) ** 0.5, 70 + (8.11**2 + 3.18**2) ** 0.5), abs=0.01
    )
    assert (full.about, full.seeds, full.not_comparable) == ("test set", 4, "")
    assert full.interval == "95% over points and runs"
    (learnt,) = niven.arct_accuracy(found, "table3 BERT full others_mean")
    assert (learnt.value, learnt.seeds) == (72, 3)
    (median,) = niven.arct_accuracy(found, "table3 BERT full median")
    assert (median.value, median.interval) == (71, "95% over points, the run fixed")
    (highest,) = niven.arct_accuracy(found, "table3 BERT full max")
    # Wilson, 75 of 100.
    assert (highest.low, highest.value, highest.high) == pytest.approx((65.7, 75, 82.45), abs=0.01)
    assert highest.not_comparable == "the best of 4 runs; the paper's is of 20"
    (single,) = niven.arct_accuracy(found, "table3 BERT W mean")
    assert (single.low, single.high) == pytest.approx((56.28, 74.54), abs=0.01)  # Wilson, 66 of 100
    (failed,) = niven.arct_accuracy(found, "table3 BERT RW others_mean")
    assert (failed.value, failed.not_comparable) == (50, niven.NONE_LEARNT)
    (on_dev,) = niven.arct_accuracy(found, "table3 BoV W mean")
    assert on_dev.not_comparable == "the paper's number is of the test set, which the study lacks"
    (failed,) = niven.degenerate_runs(found, "BERT")
    assert (failed.value, failed.n) == (25, 4)


def test_accuracies_on_the_development_set(tmp_path: Path) -> None:
    row = {"runs": 2, "degenerate": 0, "n": 100, "dev_mean": 70.0, "dev_sd": 1.0}
    rows = [row | {"model": "BERT (tiny)"}, {"model": "BERT (Large)"}, {"model": "BoV"}]
    found = products(tmp_path, niven2019_table1=rows)
    (dev,) = niven.arct_accuracy(found, "table1 BERT full dev_mean")
    assert (dev.value, dev.n, dev.about, dev.not_comparable) == (70, 100, "dev set", "")
    with pytest.raises(NotMeasured, match="no runs of BoV"):
        niven.arct_accuracy(found, "table1 BoV full dev_mean")


def test_the_adversarial_set_counts_runs_that_have_learnt_and_read_the_claim(
    tmp_path: Path,
) -> None:
    rows = [run("BERT", setup, 50.0, trained_on="negated") for setup in ("C, R, W", "W", "R, W")]
    rows += [run("BERT", "C, W", 50.0, trained_on="negated", degenerate=4, others_mean=None)]
    rows += [run("BoV", "C, R, W", 50.0, trained_on="negated")]
    found = products(tmp_path, niven2019_table4=rows)
    full, without_reason = niven.adversarial(found, "negated")
    assert (full.case, full.value, full.seeds) == ("BERT full", 52, 3)
    assert (full.about, full.not_comparable) == ("test set, 3 of 4 runs have learnt", "")
    assert (without_reason.case, without_reason.value) == ("BERT CW", 50)
    assert without_reason.not_comparable == niven.NONE_LEARNT


def peaks(folder: Path, *runs: tuple[str, int, list[int], bool], label: int = 1) -> Products:
    """BERT's runs: the input, the seed, which points are right (1) or not, whether degenerate."""
    row = {"version": "original", "trained_on": "original", "split": "test", "label": label}
    row |= {"family": "bert", "logit_0": 0.0}
    rows = [
        row | {"setup": setup, "seed": seed, "id": f"p{number}", "logit_1": hit - 0.5}
        for setup, seed, hits, _ in runs
        for number, hit in enumerate(hits)
    ]
    others = [row | {"split": "train"}, row | {"version": "negated"}]
    others = [row | {"setup": "W", "seed": 9, "id": "p0", "logit_1": 1.0} for row in others]
    run = {"family": "bert", "trained_on": "original", "points": "training", "split": "train"}
    scores = [
        run | {"setup": setup, "seed": seed, "degenerate": failed, "accuracy": 0.9}
        for setup, seed, _, failed in runs
    ]
    return products(
        folder, **{"arguments__bert_of_original_of_1": rows + others, "arguments__scores": scores}
    )


def test_the_gap_of_the_peaks(tmp_path: Path) -> None:
    """Of four points the best of all of the input is right on four, of warrants on three.

    A degenerate run, which is right on all, does not count. A sample of four points from four has
    the point that decides never, (3/4)^4 = 32% of the time, or up to three times.
    """
    runs = [("full", 1, [1, 1, 1, 1], False), ("full", 2, [1, 0, 0, 0], False)]
    runs += [("W", 1, [1, 1, 1, 0], False), ("W", 2, [1, 1, 1, 1], True)]
    found = peaks(tmp_path, *runs)
    (gap,) = niven.peak_gap(found, "gap")
    assert (gap.value, gap.low, gap.high, gap.n, gap.seeds) == (25, 0, 75, 4, 2)
    assert (gap.about, gap.not_comparable) == ("test set, peaks 100.0 (full), 75.0 (W)", "")
    with pytest.raises(NotMeasured, match="no BERT trained on R, W"):
        niven.peak_gap(found, "explained")


def test_what_explains_the_peak(tmp_path: Path) -> None:
    """Of eight points: all 7, warrants 4 and, with reasons, 6, with claims, 5: together 7.

    The text adds its gains up in the same way: 71.2 + 3.8 + 2.0 = 77.0.
    """
    hits = {"full": [1] * 7 + [0], "W": [0] * 4 + [1] * 4, "RW": [1] * 6 + [0] * 2}
    hits["CW"] = [0, 0, 0, 1, 1, 1, 1, 1]
    found = peaks(tmp_path, *((setup, 1, points, False) for setup, points in hits.items()))
    (explained,) = niven.peak_gap(found, "explained")
    assert (explained.value, explained.n, explained.seeds) == (0, 8, 1)
    assert explained.about == "test set, peaks 87.5 (full), 50.0 (W), 75.0 (RW), 62.5 (CW)"
    # RW + CW - W - full is 0 on all but two points: -1 on the seventh, and 1 on the fourth.
    random = np.random.default_rng(11).integers(0, 8, (4000, 8))
    each = 100 * (np.array(hits["RW"]) + hits["CW"] - np.array(hits["W"]) - hits["full"])
    assert list(each) == [0, 0, 0, 100, 0, 0, -100, 0]
    ends = np.percentile(each[random].mean(axis=1), [2.5, 97.5])
    assert (explained.low, explained.high) == pytest.approx(tuple(ends), abs=0.1)
    # One input whose runs are all degenerate leaves nothing to compare.
    failed = ((setup, 1, points, setup == "CW") for setup, points in hits.items())
    (explained,) = niven.peak_gap(peaks(tmp_path / "failed", *failed), "explained")
    assert explained.not_comparable == niven.NONE_LEARNT


def test_the_best_run_is_taken_anew_in_each_sample(tmp_path: Path) -> None:
    """Against two runs that are right on other halves, by a slow bootstrap of its own."""
    hits = [[1] * 30 + [0] * 10, [0] * 10 + [1] * 30, [1, 1, 0, 0] * 10]
    (gap,) = niven.peak_gap(
        peaks(
            tmp_path, *(("full", 1 + n, hits[n], False) for n in (0, 1)), ("W", 1, hits[2], False)
        ),
        "gap",
    )
    random, gaps = np.random.default_rng(7), []
    for _ in range(4000):
        sample = random.integers(0, 40, 40)
        best = max(np.mean([hits[n][i] for i in sample]) for n in (0, 1))
        gaps.append(100 * (best - np.mean([hits[2][i] for i in sample])))
    assert (gap.low, gap.high) == pytest.approx(tuple(np.percentile(gaps, [2.5, 97.5])), abs=2.6)
    assert gap.value == 25


@pytest.mark.parametrize(
    ("failed", "hits", "because"),
    [
        ((True, False), [1, 1, 1, 1], niven.NONE_LEARNT),
        ((False, True), [1, 1, 1, 1], niven.NONE_LEARNT),
        ((False, False), [1, 0, 1, 0], "no run on all of the input is above chance"),
    ],
)
def test_peaks_that_explain_nothing(
    tmp_path: Path, failed: tuple[bool, bool], hits: list[int], because: str
) -> None:
    runs = ("full", 1, hits, failed[0]), ("W", 1, [1, 1, 1, 0], failed[1])
    (gap,) = niven.peak_gap(peaks(tmp_path, *runs), "gap")
    assert gap.not_comparable == because


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
    found = products(tmp_path, niven2019_easy=[*rows, rows[3] | {"runs": "not degenerate"}])
    judged = {number.case: number for number in niven.easy_points(found, "")}
    assert {case: number.not_comparable for case, number in judged.items()} == {
        "this study, BoV, all runs": "",
        "Niven and Kao, BiLSTM, all runs": "some runs are degenerate",
        "Niven and Kao, BiLSTM, without degenerate runs": "",
    }
    bov = judged["this study, BoV, all runs"]
    assert (bov.value, bov.low, bov.high) == pytest.approx((-20, -30, -10))
    assert (bov.n, bov.seeds, bov.about) == (100, 3, "40 points of BoV, test")


def test_runs_that_are_all_degenerate_have_no_easy_points(tmp_path: Path) -> None:
    """Without them, BERT has no row, and the other family's has no difference."""
    row = {"measure": "cue among always right", "setup": "C, R, W", "n": 40, "split": "dev"}
    row |= {"n_points": 100, "n_runs": 3, "source": "this study", "model": "BoV"}
    ends = {"bert_minus": -0.2, "bert_minus_low": -0.3, "bert_minus_high": -0.1}
    rows = [row | {"runs": "all"} | ends, row | {"runs": "not degenerate"}]
    (number,) = niven.easy_points(products(tmp_path, niven2019_easy=rows), "")
    assert number.not_comparable == "some runs are degenerate"


def relation_claim(**changes: object) -> Claim:
    value = {"kind": "value", "rule": "within", "value": 80.0, "to": 5.0, "of": "dobj"}
    value["reference"] = 40.0
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


def test_a_case_that_comes_twice_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = [verdicts.Measured(1.0, 0.0, 2.0, case="SST-2")] * 2
    monkeypatch.setitem(claim_verdicts.MEASURES, "relation", lambda *_: twice)
    with pytest.raises(ValueError, match=r"one: a case comes twice among .*SST-2"):
        evaluate(relation_claim(), products(tmp_path), Comparability("mine", {}))


def test_a_task_decides_for_its_own_cases(tmp_path: Path) -> None:
    rows = [
        {"task": task, "split": "dev", "mode": "zero", "metric": "accuracy", "seed": 1, "n": 9}
        | {"effect": 0.0, "ci_low": -1.0, "ci_high": 1.0, "p": 1.0, "p_t": 1.0, "head": "1-1"}
        for task in ("SST-2", "MNLI")
    ]
    losses = [row | {"unit": "head", "loss": 4.9} for row in rows]
    found = products(tmp_path, michel2019_table1=rows, michel2019_power=losses)
    claim = replace(CLAIM, needs=("task",), measure="classifier_heads_without_loss", of="0.01 2")
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
        ("michel-translation-significant", "BERT-base", TRANSLATOR),
        ("niven-table4-cw", "BERT-base", "the paper's model is BERT-large"),
        ("niven-table4-cw", "BERT-large", ""),
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
    rests = {claim.id: study.rests_on(claim) for claim in claims.values()}
    assert rests["michel-translation-self"] == rests["michel-translation-base"] == PAPER_MODEL
    for epochs in ("early", "late"):  # of another translator, which no option names
        assert rests[f"michel-translation-{epochs}"] == claim_verdicts.OTHER_MODEL
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
