"""Measures of Kovaleva et al.'s claims on small tables, by hand."""

import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.claims.made_up import heads, products
from workflow_scripts.claims import kovaleva, kovaleva_disabling
from workflow_scripts.claims.products import NotMeasured
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.finetuning.measures import SHARED


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def test_classifier_and_shares(tmp_path: Path) -> None:
    rows = [
        {"method": method, "macro_f1": f1, "macro_f1_low": f1 - 0.1, "macro_f1_high": f1 + 0.1}
        | {"n": 9, "n_examples": 4, "accuracy": 0.7, "maps": maps}
        for method, f1, maps in (
            ("network", 0.9, "all"),
            ("network", 0.8, "fine-tuned"),
            ("network, shuffled labels", 0.2, "fine-tuned"),
        )
    ]
    shares = [
        {"layer": layer, "head": 0, "class": "block", "share": share, "n": 10, "seed": 1}
        | {"method": "network", "task": "sst2", "stage": "fine-tuned"}
        for layer, share in enumerate((0.2, 0.4, 0.6))
    ]
    found = products(tmp_path, kovaleva2019_classifier=rows, patterns__shares=shares)
    (f1,) = kovaleva.classifier_f1(found, "")
    assert (ends(f1), f1.reference) == (pytest.approx((0.8, 0.7, 0.9)), 0.2)
    assert (f1.n, f1.interval, f1.about) == (9, "95% over examples", "accuracy 70%, 4 examples")
    (share,) = kovaleva.class_share(found, "block")
    half = stats.t.ppf(0.975, 2) * 20 / math.sqrt(3)
    assert ends(share) == pytest.approx((40, 40 - half, 40 + half))
    assert (share.case, share.n, share.seeds) == ("SST-2", 3, 1)


def test_frames(tmp_path: Path) -> None:
    row = {"direction": "to predicate", "control": 0.1, "n": 9}
    controls = [
        row | {"head": head, "difference": difference, "p": p, "linking": linking}
        for head, difference, p, linking in (
            ("1-1", 0.1, 0.001, True),
            ("1-2", -0.1, 0.001, False),
            ("2-1", 0.1, 0.03, False),
            ("2-2", 0.1, 0.3, False),
        )
    ]
    best = [
        row | {"head": head, "attention": value, "ci_low": value - 0.1, "ci_high": value + 0.1}
        for head, value in (("1-1", 0.25), ("2-1", 0.5))
    ]
    found = products(tmp_path, kovaleva2019_frame_controls=controls, kovaleva2019_frames=best)
    (number,) = kovaleva.frame_heads(found, "to predicate")
    assert (ends(number), number.n, number.about) == ((1, 1, 2), 4, "1-1")
    (attention,) = kovaleva.frame_attention(found, "to predicate")
    assert (ends(attention), attention.reference) == ((0.5, 0.4, 0.6), 0.1)
    assert (attention.n, attention.about) == (9, "2-1")


def test_layers_that_change(tmp_path: Path) -> None:
    rows = heads(6, {(layer, head): 0.9 for layer in range(5) for head in (0, 1)}, "similarity")
    rows = [row | {"task": "mrpc", "seed": 1} for row in rows]
    found = products(tmp_path, **{"finetuning__mrpc_of_1_of_similarity": rows})
    (measured,) = kovaleva.last_layers_change(found, "")
    assert ends(measured) == pytest.approx((90, 88, 92))
    assert (measured.case, measured.about) == ("MRPC", "0.0 against 90.0")
    with pytest.raises(NotMeasured, match=r"^the study has no finetuning/\*\.shared$"):
        found.all_of(SHARED)


def table1(task: str, metric: str, tuned: float, random: float, **more: Any) -> dict:
    row = {"task": task, "split": "dev", "metric": metric, "pretrained_tuned": tuned, "n": 100}
    row |= {"random_tuned": random, "majority": 50.0, "seeds": 2, "official": True}
    return row | {"generated": False} | more


def test_scores_of_table1(tmp_path: Path) -> None:
    rows = [
        table1("MRPC", "f1", 85.0, 80.0),
        table1("MRPC", "accuracy", 80.0, 60.0),
        table1("STS-B", "pearson", 50.0, 0.0, majority=0.0),
        table1("SST-2", "accuracy", 70.0, 50.0, official=False),
    ]
    found = products(tmp_path, kovaleva2019_table1=rows)
    (accuracy,) = kovaleva.glue_score(found, "MRPC accuracy pretrained_tuned")
    assert ends(accuracy) == pytest.approx((80, 71.11, 86.66), abs=0.01)  # Wilson, 80 of 100
    assert (accuracy.reference, accuracy.seeds, accuracy.not_comparable) == (50, 2, "")
    (f1,) = kovaleva.glue_score(found, "MRPC f1 pretrained_tuned")
    assert f1.value == 85
    assert math.isnan(f1.low)
    (pearson,) = kovaleva.glue_score(found, "STS-B pearson pretrained_tuned")
    assert ends(pearson) == pytest.approx((50, 33.66, 63.41), abs=0.01)  # Fisher, 100 pairs
    (films,) = kovaleva.glue_score(found, "SST-2 accuracy random_tuned")
    assert films.not_comparable == "other data than the task's own"
    gains = {gain.case: gain for gain in kovaleva.pretraining_gain(found, "")}
    assert gains.keys() == {"MRPC", "STS-B", "SST-2"}
    low, high = 71.11 - 69.06, 86.66 - 50.20  # Wilson, 60 of 100: 50.20 to 69.06
    assert ends(gains["MRPC"]) == pytest.approx((20, low, high), abs=0.01)


def features(layer: int, query: str, **kinds: float) -> list[dict]:
    return [
        {"layer": layer, "head": 0, "kind": kind, "attention": value, "ci_low": value - 0.01}
        | {"ci_high": value + 0.01, "query": query, "stage": "fine-tuned", "task": "rte"}
        | {"share": 2 * value, "share_low": 2 * value - 0.01, "share_high": 2 * value + 0.01}
        | {"n": 4, "n_without": 1}
        for kind, value in kinds.items()
    ]


def test_attention_to_kinds(tmp_path: Path) -> None:
    rows = features(0, "all", cls=0.5, sep=0.1, noun=0.2, verb=0.1, punctuation=0.9)
    rows += features(1, "all", cls=0.1, sep=0.3, noun=0.1, verb=0.2, punctuation=0.9)
    rows += features(0, "cls", cls=0.9, sep=0.1, noun=0.0)
    rows += features(1, "cls", cls=0.2, sep=0.5, noun=0.3)
    found = products(tmp_path, **{"finetuning__rte_of_1_of_features": rows})
    (vertical,) = kovaleva.special_over_words(found, "")
    assert ends(vertical) == pytest.approx((100 - 30, 67, 73))
    assert (vertical.n, vertical.about.split(" to ")[0]) == (5, "100.0 against 30.0")
    (early,) = kovaleva.cls_early_sep_late(found, "")
    assert ends(early) == pytest.approx((20 + 40, 56, 64))
    (to_sep,) = kovaleva.cls_attends_to_sep(found, "")
    assert (ends(to_sep), to_sep.about) == (pytest.approx((20, 18, 22)), "against noun")


def test_the_most_costly_head_and_shared_words(tmp_path: Path) -> None:
    effects = [
        {"name": name, "layer": 1, "head": head, "effect_rte": value}
        for name, head, value in (("2-1", 0, 0.01), ("2-2", 1, -0.05))
    ]
    shared = [
        row | {"task": "rte", "stage": "fine-tuned", "measure": measure, "seed": 1}
        for measure, value in (("copy", 0.3), ("shared", 0.6))
        for row in heads(2, {(1, 1): value}, "excess")
    ]
    found = products(
        tmp_path, kovaleva2019_heads=effects, **{"finetuning__rte_of_1_of_shared": shared}
    )
    (measured,) = kovaleva.costly_head_and_shared_words(found, "rte")
    assert ends(measured) == pytest.approx((30, 29, 31))
    assert measured.about == "2-2, -5.0 points where disabled"
    assert kovaleva.costly_head_and_shared_words(found, "stsb") == []


GAIN = {"unit": "head", "mode": "uniform", "split": "dev", "seed": 1, "n": 100, "naive": 1.5}


def test_gains_and_effects(tmp_path: Path) -> None:
    gains = [
        GAIN | {"task": task, "metric": metric, "gain": gain, "gain_low": -1.0, "gain_high": 2.0}
        for task, metric, gain in (
            ("MRPC", "f1", 0.9),
            ("MRPC", "accuracy", 0.5),
            ("STS-B", "pearson", 0.1),
        )
    ]
    effects = [{"effect_mrpc": value, "name": "1-1"} for value in (0.01, -0.01, 0.03)]
    scores = [
        {"unit": "layer", "mode": "uniform", "task": "rte", "split": "dev", "metric": "accuracy"}
        | {"layer": layer, "effect": 0.03, "ci_low": 0.01, "ci_high": 0.05, "n": 50}
        for layer in range(12)
    ]
    found = products(
        tmp_path,
        michel2019_gains=gains,
        kovaleva2019_heads=effects,
        ablation__rte_of_pretrained_of_1_of_scores=scores,
    )
    every = kovaleva_disabling.held_out_gain(found, "head")
    assert [(gain.case, *ends(gain)) for gain in every] == [
        ("MRPC", 0.5, -1, 2),
        ("STS-B", 0.1, -1, 2),
    ]
    assert [gain.case for gain in kovaleva_disabling.held_out_gain(found, "head MRPC")] == ["MRPC"]
    (average,) = kovaleva_disabling.average_effect(found, "mrpc")
    assert average.value == pytest.approx(1)
    assert kovaleva_disabling.average_effect(found, "rte") == []
    (layer,) = kovaleva_disabling.layer_effect(found, "RTE 1")
    assert (ends(layer), layer.n) == (pytest.approx((3, 1, 5)), 50)


def test_effects_of_a_kind_of_heads(tmp_path: Path) -> None:
    strata = [
        {"task": "mrpc", "stratum": kind, "heads": 3, "effect": -0.002, "low": -0.01, "high": 0.005}
        for kind in ("syntactic", "frames")
    ]
    (measured,) = kovaleva_disabling.stratum_effect(
        products(tmp_path, kovaleva2019_strata=strata), "frames"
    )
    assert (measured.case, measured.n, *ends(measured)) == ("MRPC", 3, -0.2, -1.0, 0.5)
