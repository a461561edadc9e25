"""Measures of Kovaleva et al.'s claims on small tables, by hand."""

import math
from pathlib import Path

import pytest
from scipy import stats

from tests.claims import made_up_kovaleva as rows
from tests.claims.made_up import products
from workflow_scripts.checkpoints.kovaleva2019_table1 import PAPER
from workflow_scripts.claims import (
    kovaleva_attention,
    kovaleva_maps,
    kovaleva_scores,
)
from workflow_scripts.claims.products import NotMeasured
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.finetuning.measures import SHARED


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def test_classifier_and_shares(tmp_path: Path) -> None:
    found = products(
        tmp_path,
        kovaleva2019_classifier=rows.classifier(0.8),
        patterns__shares=rows.shares(0.2, 0.4, 0.6),
    )
    (f1,) = kovaleva_maps.classifier_f1(found, "")
    assert (ends(f1), f1.reference) == (pytest.approx((0.8, 0.7, 0.9)), 0.2)
    assert (f1.n, f1.interval, f1.about) == (9, "95% over examples", "accuracy 70%, 4 examples")
    network, by_rules = kovaleva_maps.class_share(found, "heterogeneous")
    half = stats.t.ppf(0.975, 2) * 20 / math.sqrt(3)
    assert ends(network) == pytest.approx((40, 40 - half, 40 + half))
    assert (network.case, network.n, network.seeds) == ("SST-2, by network", 3, 1)
    assert (by_rules.case, by_rules.value) == ("SST-2, by rules", pytest.approx(20))
    # Both give 10% of the maps the class, either of them 40 + 20 - 10.
    assert network.about == "network and rules agree on 20% of them"


def test_frames(tmp_path: Path) -> None:
    found = products(
        tmp_path,
        kovaleva2019_frame_controls=rows.controls(2, 3),
        kovaleva2019_frames=rows.frames(0.25),
    )
    (share,) = kovaleva_maps.frame_heads(found, "")
    assert (ends(share), share.n, share.about) == (pytest.approx((10, 10, 15)), 20, "1-1 1-2")
    assert share.interval == "bounds of the count"
    (most,) = kovaleva_maps.frame_attention(found, "")
    assert (ends(most), most.reference) == (pytest.approx((0.25, 0.24, 0.26)), 0.1)
    assert (most.n, most.about, most.interval) == (30, "1-1", "95% over 12 lexical units")


def test_layers_that_change(tmp_path: Path) -> None:
    """The least changed of the last two of twelve, against the most changed other."""
    found = products(
        tmp_path,
        finetuning__mrpc_of_1_of_similarity=rows.similarity("mrpc", *[0.9] * 9, 0.7, 0.5, 0.6),
        finetuning__qqp_of_1_of_similarity=rows.similarity("qqp", *[0.9] * 12),
    )
    (measured,) = kovaleva_attention.last_layers_change(found, "QQP")
    assert ends(measured) == pytest.approx((10, 8, 12))
    assert measured.about == "60.0 in layer 12 against 70.0 in layer 10"
    with pytest.raises(NotMeasured, match=r"^the study has no finetuning/\*\.shared$"):
        found.all_of(SHARED)


def test_two_layers_have_no_last_sixth(tmp_path: Path) -> None:
    found = products(
        tmp_path, finetuning__mrpc_of_1_of_similarity=rows.similarity("mrpc", 0.9, 0.5)
    )
    with pytest.raises(NotMeasured, match=r"^2 layers are too few for a last sixth$"):
        kovaleva_attention.last_layers_change(found, "QQP")


def test_scores_of_table1(tmp_path: Path) -> None:
    table = [
        rows.table1("MRPC", "f1", 85.0, 80.0),
        rows.table1("MRPC", "accuracy", 80.0, 60.0, 31.0, seeds=2),
        rows.table1("STS-B", "pearson", 50.0, math.nan, 10.0, majority=0.0),
        rows.table1("SST-2", "accuracy", 70.0, 50.0, official=False),
        rows.table1("CoLA", "matthews", 40.0, 0.0),
    ]
    found = products(tmp_path, kovaleva2019_table1=table)
    (accuracy,) = kovaleva_scores.glue_score(found, "MRPC accuracy pretrained_tuned")
    assert (ends(accuracy), accuracy.reference) == ((80, 79, 81), 50)
    assert (accuracy.seeds, accuracy.not_comparable) == (2, "")
    assert accuracy.interval == "95% over examples, mean of the seeds' intervals"
    (f1,) = kovaleva_scores.glue_score(found, "MRPC f1 pretrained_tuned")
    assert (ends(f1), f1.interval) == ((85, 84, 86), "")
    (untuned,) = kovaleva_scores.glue_score(found, "MRPC accuracy pretrained")
    assert untuned.value == 31
    with pytest.raises(NotMeasured, match="no random_tuned of STS-B"):
        kovaleva_scores.glue_score(found, "STS-B pearson random_tuned")
    (films,) = kovaleva_scores.glue_score(found, "SST-2 accuracy random_tuned")
    assert films.not_comparable == "other data than the task's own"
    every = kovaleva_scores.table1_gain(found, "pretrained_tuned over random_tuned")
    assert [(gain.case, *ends(gain)) for gain in every] == [
        ("MRPC", 20, 18, 22),
        ("SST-2", 20, 18, 22),
    ]
    (one,) = kovaleva_scores.table1_gain(found, "pretrained over random_tuned on SST-2 QNLI")
    assert (one.value, one.about) == (-20, "30.0 against 50.0")
    with pytest.raises(NotMeasured, match="over 7 tasks, 3 of them are here"):
        kovaleva_scores.average_gain(found, "pretrained_tuned over pretrained")


def test_the_average_gain_of_the_paper() -> None:
    """The paper's 35.9 points are of accuracies, where a task has two metrics."""

    gains = [
        tuned - untuned for (_, metric), (untuned, _, tuned) in PAPER.items() if metric != "f1"
    ]
    assert sum(gains) / len(gains) == pytest.approx(35.9, abs=0.05)


def test_the_average_gain(tmp_path: Path) -> None:
    table = [
        rows.table1(task, "pearson" if task == "STS-B" else "accuracy", 40.0 + number, 0.0, 10.0)
        for number, task in enumerate(kovaleva_scores.PAPER_TASKS)
    ]
    found = products(tmp_path, kovaleva2019_table1=table)
    (mean,) = kovaleva_scores.average_gain(found, "pretrained_tuned over pretrained")
    half = 2 / math.sqrt(7)  # of seven independent gains, each known to 2 points
    assert ends(mean) == pytest.approx((33, 33 - half, 33 + half))
    assert (mean.n, mean.seeds, mean.not_comparable) == (700, 1, "")


def test_attention_to_kinds(tmp_path: Path) -> None:
    table = rows.features(0, "all", cls=0.5, sep=0.1, noun=0.02, verb=0.01, punctuation=0.9)
    table += rows.features(1, "all", cls=0.1, sep=0.3, noun=0.04, verb=0.02, punctuation=0.9)
    table += rows.features(0, "cls", cls=0.9, sep=0.1, noun=0.0)
    table += rows.features(1, "cls", cls=0.2, sep=0.5, noun=0.3)
    found = products(tmp_path, finetuning__rte_of_1_of_features=table)
    to_cls, to_sep = kovaleva_attention.words_to_special(found, "")
    assert ends(to_cls) == pytest.approx((10, 100 * 2 / 31, 100 * 4 / 29))  # 3 of 30%
    assert (to_sep.value, to_sep.case) == (pytest.approx(15), "RTE, [SEP]")
    assert to_cls.about == "3.0% to a noun against 30.0% to [CLS]"
    (early,) = kovaleva_attention.special_by_depth(found, "cls over sep, layers 1-6")
    assert (ends(early), early.n, early.seeds) == (pytest.approx((40, 38, 42)), 4, 1)
    assert early.about == "50.0 against 10.0%, layer 1; 10.0 against 30.0%, layer 2"
    (late,) = kovaleva_attention.special_by_depth(found, "sep over cls, layers 7-12")
    assert (ends(late), late.about) == (
        pytest.approx((20, 18, 22)),
        "30.0 against 10.0%, layer 2; 10.0 against 50.0%, layer 1",
    )
    (to_sep,) = kovaleva_attention.cls_attends(found, "sep on RTE QNLI")
    assert ends(to_sep) == pytest.approx((20, 18, 22))
    assert to_sep.about == "50.0% against 30.0% to noun"
    assert kovaleva_attention.cls_attends(found, "sep on MRPC") == []
    assert kovaleva_attention.cls_attends(found, "punctuation on RTE") == []


def test_linked_words(tmp_path: Path) -> None:
    counts = [
        {"task": "rte", "stage": "fine-tuned", "link": link, "far": far, "links": n, "head": head}
        | {"seed": 1}
        for link, far, n in (
            ("verb-subject", False, 20),
            ("verb-subject", True, 8),
            ("noun-pronoun", False, 0),
            ("noun-pronoun", True, 0),
        )
        for head in (0, 1)
    ]
    made = rows.links("RTE", 2, verb_subject=(0.6, 0.51, 0.49), subject_verb=0.9)
    found = products(tmp_path, **made | {"finetuning__rte_of_1_of_links": counts})
    (heads,) = kovaleva_attention.candidates_diagonal(found, "verb-subject noun-pronoun")
    assert ends(heads) == (2, 1, 3)  # each known to 0.02
    assert heads.about == "1-1: 60%, 1-2: 51%, 1-3: 49%"
    assert (heads.case, heads.n, heads.of) == ("RTE, verb-subject", 3, "heads")
    assert (heads.seeds, heads.interval) == (2, "bounds of the count")
    (near,) = kovaleva_attention.adjacent_links(found, "verb-subject")
    assert ends(near) == pytest.approx((60, 38.66, 78.12), abs=0.01)  # Wilson, 12 of 20
    assert near.interval == "95% as if links were independent"
    assert kovaleva_attention.adjacent_links(found, "noun-pronoun") == []


def test_the_most_costly_head_and_shared_words(tmp_path: Path) -> None:
    found = products(tmp_path, **rows.shared_words("rte", {(0, 0): 0.6, (1, 1): 0.3}))
    (measured,) = kovaleva_attention.costly_head_and_shared_words(found, "rte")
    assert ends(measured) == pytest.approx((30, 29, 31))
    assert measured.about == "2-2, -5.0 points where disabled"
    with pytest.raises(NotMeasured, match="has no effect_stsb"):
        kovaleva_attention.costly_head_and_shared_words(found, "stsb")
