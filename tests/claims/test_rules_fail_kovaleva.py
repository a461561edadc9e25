"""Every rule for Kovaleva et al. can fail: products that contradict the paper fail it."""

from pathlib import Path
from typing import Any

import pytest

from tests.claims import made_up_kovaleva as rows
from tests.claims.made_up import products
from workflow_scripts.claims.claim_verdicts import MEASURES, Comparability, evaluate
from workflow_scripts.claims.published import Claim, read
from workflow_scripts.claims.verdicts import NOT_REPRODUCED, REPRODUCED

CLAIMS = {
    claim.id: claim
    for claim in read(Path(__file__).parents[2] / "claims/published.csv", MEASURES)
    if claim.id.startswith("kovaleva-")
}
TABLE1 = [id_ for id_, claim in CLAIMS.items() if claim.measure == "glue_score"]


def all_queries(task: str, lower: dict[str, float], upper: dict[str, float]) -> dict[str, Any]:
    """Attention to kinds from all tokens, in two layers."""
    table = rows.features(0, "all", task, **lower) + rows.features(1, "all", task, **upper)
    return {f"finetuning__{task}_of_1_of_features": table}


def from_cls(task: str, **kinds: float) -> dict[str, Any]:
    """Attention of [CLS] to kinds, in one layer."""
    return {f"finetuning__{task}_of_1_of_features": rows.features(0, "cls", task, **kinds)}


def on_table1(**tasks: tuple[float, float, float]) -> dict[str, Any]:
    """Table 1 with scores after fine-tuning, of random weights, and before, in percent."""
    titles = {"sst2": "SST-2", "stsb": "STS-B"}
    table = [
        rows.table1(
            titles.get(task, task.upper()), "pearson" if task == "stsb" else "accuracy", *scores
        )
        for task, scores in tasks.items()
    ]
    return {"kovaleva2019_table1": table}


def seven(tuned: float) -> dict[str, Any]:
    """The same scores on all tasks of the paper."""
    names = ("mrpc", "stsb", "sst2", "qqp", "rte", "qnli", "mnli")
    return on_table1(**dict.fromkeys(names, (tuned, 50.0, 40.0)))


def adjacent(far: int) -> dict[str, Any]:
    """100 links of verb and subject, so many of them between distant tokens."""
    row = {"task": "rte", "seed": 1, "stage": "fine-tuned", "link": "verb-subject"}
    table = [row | {"far": False, "links": 100}, row | {"far": True, "links": far}]
    return {"finetuning__rte_of_1_of_links": table}


def disabling(unit: str, value: float) -> dict[str, Any]:
    table = [rows.gain("MRPC", "accuracy", unit, value), rows.gain("STS-B", "pearson", unit, value)]
    return {"michel2019_gains": table}


def heads(task: str, best: float) -> dict[str, Any]:
    """Three heads, whose best has such an effect."""
    scores = rows.head_scores(task, -0.01, best, 0.0)
    return {f"ablation__{task}_of_pretrained_of_1_of_scores": scores}


def first_layer(task: str, effect: float) -> dict[str, Any]:
    return {f"ablation__{task}_of_pretrained_of_1_of_scores": rows.layer_scores(task, effect)}


def frames(linking: int, attention: float) -> dict[str, Any]:
    """Of 100 heads so many link, and as many possibly; the best has so much attention."""
    return {
        "kovaleva2019_frame_controls": rows.controls(linking, linking, 100),
        "kovaleva2019_frames": rows.frames(attention),
    }


# For each claim products that confirm it, and some that contradict it.
MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kovaleva-classifier": (
        {"kovaleva2019_classifier": [r | {"macro_f1_low": 0.84, "macro_f1_high": 0.88}
                                     for r in rows.classifier(0.86)]},
        {"kovaleva2019_classifier": rows.classifier(0.5, shuffled=0.7)},
    ),
    "kovaleva-heterogeneous": (
        {"patterns__shares": [r | {"share": 0.45} for r in rows.shares(0.44, 0.45, 0.46)]},
        {"patterns__shares": rows.shares(0.2, 0.21, 0.2)},
    ),
    "kovaleva-frames": (frames(2, 0.2), frames(16, 0.2)),
    "kovaleva-frames-attention": (frames(2, 0.209), frames(2, 0.05)),
    "kovaleva-last-layers": (
        {"finetuning__mrpc_of_1_of_similarity": rows.similarity("mrpc", *[0.9] * 10, 0.5, 0.6)},
        # The last layer changes most, the last but one does not.
        {"finetuning__mrpc_of_1_of_similarity": rows.similarity("mrpc", *[0.7] * 10, 0.9, 0.2)},
    ),
    "kovaleva-pretraining": (on_table1(rte=(64.6, 52.7, 52.7)), on_table1(rte=(50, 64, 52.7))),
    "kovaleva-fine-tuning": (on_table1(rte=(64.6, 52.7, 52.7)), on_table1(rte=(50, 64, 64))),
    "kovaleva-fine-tuning-average": (seven(75.9), seven(30)),
    "kovaleva-random-below-untuned": (
        on_table1(stsb=(82.7, 2.9, 33.1), qnli=(84.4, 49.5, 52.8)),
        on_table1(stsb=(82.7, 33.1, 2.9), qnli=(84.4, 60, 50)),
    ),
    "kovaleva-vertical": (
        all_queries("rte", {"cls": 0.9, "sep": 0.9, "noun": 0.02}, {"cls": 0.9, "sep": 0.9}),
        # More to [CLS] and [SEP] than to any word, but no tenfold.
        all_queries("rte", {"cls": 0.3, "sep": 0.3, "noun": 0.2}, {"cls": 0.3, "sep": 0.3}),
    ),
    "kovaleva-cls-early": (
        all_queries("rte", {"cls": 0.5, "sep": 0.1}, {"cls": 0.5, "sep": 0.1}),
        # [CLS] loses against [SEP] with depth, but [SEP] is ahead in the lower half, too.
        all_queries("rte", {"cls": 0.1, "sep": 0.3}, {"cls": 0.0, "sep": 0.9}),
    ),
    "kovaleva-sep-late": (
        all_queries("rte", {"cls": 0.1, "sep": 0.5}, {"cls": 0.1, "sep": 0.5}),
        # [SEP] gains with depth, but [CLS] stays ahead: as on SST-2 in the default study.
        all_queries("rte", {"cls": 0.9, "sep": 0.1}, {"cls": 0.5, "sep": 0.2}),
    ),
    "kovaleva-cls-to-sep": (
        from_cls("mrpc", sep=0.5, noun=0.1, punctuation=0.2),
        from_cls("mrpc", sep=0.1, noun=0.5, punctuation=0.2),
    ),
    "kovaleva-cls-not-to-sep": (
        from_cls("rte", sep=0.1, noun=0.2, punctuation=0.5),
        from_cls("rte", sep=0.5, noun=0.1, punctuation=0.2),
    ),
    "kovaleva-cls-to-punctuation": (
        from_cls("rte", sep=0.1, noun=0.2, punctuation=0.5),
        from_cls("rte", sep=0.1, noun=0.5, punctuation=0.2),
    ),
    "kovaleva-links-diagonal": (
        rows.links("RTE", verb_subject=0.7, noun_pronoun=0.6),
        # On average more than half of the attention, but one head is not diagonal.
        rows.links("RTE", verb_subject=(0.9, 0.8, 0.2), noun_pronoun=(0.9, 0.8, 0.2)),
    ),
    "kovaleva-links-adjacent": (adjacent(20), adjacent(80)),
    "kovaleva-shared-stsb": tuple(
        rows.shared_words("stsb", {(0, 0): 0.6, (1, 1): excess}) for excess in (0.3, -0.1)
    ),
    "kovaleva-shared-rte": tuple(
        rows.shared_words("rte", {(0, 0): 0.6, (1, 1): excess}) for excess in (0.3, -0.1)
    ),
    "kovaleva-head-gain": (disabling("head", 1.2), disabling("head", -0.5)),
    "kovaleva-head-gain-mrpc": (heads("mrpc", 0.012), heads("mrpc", 0.04)),
    "kovaleva-head-gain-stsb": (heads("stsb", 0.001), heads("stsb", 0.02)),
    "kovaleva-random-head-mrpc": (
        rows.strata(mrpc={"all": 0.005}),
        rows.strata(mrpc={"all": -0.005}),
    ),
    "kovaleva-random-head-rte": (
        rows.strata(rte={"all": 0.005}),
        rows.strata(rte={"all": -0.005}),
    ),
    "kovaleva-layer-gain": (disabling("layer", 1.2), disabling("layer", -0.5)),
    "kovaleva-layer-gain-rte": (first_layer("rte", 0.032), first_layer("rte", -0.01)),
    "kovaleva-layer-cost-qnli": (first_layer("qnli", -0.002), first_layer("qnli", 0.02)),
    "kovaleva-layer-cost-mnli": (first_layer("mnli", -0.002), first_layer("mnli", 0.02)),
    "kovaleva-linguistic": (
        rows.kinds_of_heads("mrpc", frames=(0.0, 0.003), other=(-0.02,)),
        # A small loss of one head that is sure, within one point; others make up for it.
        rows.kinds_of_heads("mrpc", frames=(-0.0065, 0.01, 0.01), other=(0.0,)),
    ),
}  # fmt: skip


def verdicts(claim: Claim, folder: Path, made: dict[str, Any]) -> set[str]:
    """The verdicts in all cases, on the paper's model and comparable data."""
    folder.mkdir()
    model = Comparability(claim.model, {})
    return {row["verdict"] for row in evaluate(claim, products(folder, **made), model)}


@pytest.mark.parametrize("id_", sorted(CLAIMS.keys() - set(TABLE1)))
def test_a_rule_can_be_met_and_can_fail(id_: str, tmp_path: Path) -> None:
    bears_out, contradicts = MADE[id_]
    assert verdicts(CLAIMS[id_], tmp_path / "right", bears_out) == {REPRODUCED}
    assert verdicts(CLAIMS[id_], tmp_path / "wrong", contradicts) == {NOT_REPRODUCED}


@pytest.mark.parametrize("id_", TABLE1)
def test_a_score_of_table1_can_be_met_and_can_fail(id_: str, tmp_path: Path) -> None:
    claim = CLAIMS[id_]
    task, metric, column = claim.of.split()
    reference = 50.0 if claim.reference is None else claim.reference
    away = -20 if claim.value >= reference else 20  # our majority is there, our score beyond it
    for name, value, verdict in (
        ("right", claim.value + 1, REPRODUCED),
        ("wrong", claim.value + 2 * away, NOT_REPRODUCED),
    ):
        scores = {column: value, f"{column}_low": value - 1, f"{column}_high": value + 1}
        majority = {"majority": claim.value + away}
        row = rows.table1(task, metric, 0.0, 0.0, **scores, **majority)
        assert verdicts(claim, tmp_path / name, {"kovaleva2019_table1": [row]}) == {verdict}
