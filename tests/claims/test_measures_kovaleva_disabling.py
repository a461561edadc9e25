"""Measures of Kovaleva et al.'s claims on disabled heads and layers, by hand."""

from pathlib import Path

import pytest

from tests.claims import made_up_kovaleva as rows
from tests.claims.made_up import products
from workflow_scripts.claims import kovaleva_disabling
from workflow_scripts.claims.verdicts import Measured


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def test_gains_and_effects(tmp_path: Path) -> None:
    gains = [
        rows.gain(task, metric, "head", value, 1.0)
        for task, metric, value in (
            ("MRPC", "f1", 0.9),
            ("MRPC", "accuracy", 0.5),
            ("STS-B", "pearson", 0.1),
        )
    ]
    found = products(
        tmp_path,
        michel2019_gains=gains,
        ablation__rte_of_pretrained_of_1_of_scores=rows.layer_scores("rte", 0.03),
    )
    every = kovaleva_disabling.held_out_gain(found, "head")
    assert [(gain.case, *ends(gain)) for gain in every] == [
        ("MRPC", 0.5, -0.5, 1.5),
        ("STS-B", 0.1, -0.9, 1.1),
    ]
    (layer,) = kovaleva_disabling.layer_effect(found, "RTE 1")
    assert (ends(layer), layer.n) == (pytest.approx((3, 2.9, 3.1)), 50)
    assert {(one.seeds, one.interval) for one in (*every, layer)} == {(1, "")}
    assert kovaleva_disabling.layer_effect(found, "QNLI 1") == []


def test_the_effect_of_the_best_head(tmp_path: Path) -> None:
    """Of each seed its own, on the same examples; accuracy of MRPC, not F1."""
    scores = {1: (0.01, 0.03, -0.02), 2: (0.011, -0.01, 0.0)}
    of_seeds = {}
    for seed, of_heads in scores.items():
        table = rows.head_scores("mrpc", *of_heads, seed=seed)
        table += [row | {"metric": "f1", "effect": 0.9} for row in table]
        of_seeds[f"ablation__mrpc_of_pretrained_of_{seed}_of_scores"] = table
    one, *_ = of_seeds
    (best,) = kovaleva_disabling.best_head_effect(
        products(tmp_path / "one", **{one: of_seeds[one]}), "MRPC"
    )
    assert ends(best) == pytest.approx((3, 2.9, 3.1))
    assert (best.case, best.n, best.about, best.seeds) == ("MRPC", 50, "accuracy, 1-2", 1)
    assert best.interval == "95% over examples, of the chosen head alone"
    found = products(tmp_path / "two", **of_seeds)
    (best,) = kovaleva_disabling.best_head_effect(found, "MRPC")
    assert ends(best) == pytest.approx((2.05, 1.95, 2.15))
    assert (best.seeds, best.about) == (2, "accuracy, 1-2 1-1")
    assert kovaleva_disabling.best_head_effect(found, "STS-B") == []


def test_gains_and_effects_of_several_seeds(tmp_path: Path) -> None:
    """One case: the mean over seeds, with the mean of the ends of the seeds' intervals."""
    gains = [
        rows.gain("MRPC", "accuracy", "head", value, width, seed=seed, naive=naive)
        for seed, value, width, naive in ((1, 0.5, 1.0, 2.0), (2, 1.1, 0.1, 2.4))
    ]
    scores = {
        f"ablation__rte_of_pretrained_of_{seed}_of_scores": rows.layer_scores(
            "rte", effect, seed=seed
        )
        for seed, effect in ((1, 0.03), (2, 0.01), (3, -0.01))
    }
    found = products(tmp_path, michel2019_gains=gains, **scores)
    (gain,) = kovaleva_disabling.held_out_gain(found, "head")
    assert ends(gain) == pytest.approx((0.8, (-0.5 + 1.0) / 2, (1.5 + 1.2) / 2))
    same = "accuracy, +2.2 where chosen and measured on the same examples"
    assert (gain.seeds, gain.about) == (2, same)
    (layer,) = kovaleva_disabling.layer_effect(found, "RTE 1")
    assert (ends(layer), layer.seeds) == (pytest.approx((1, 0.9, 1.1)), 3)
    words = "95% over examples, mean of the seeds' intervals"
    assert {gain.interval, layer.interval} == {words}


def test_a_layer_of_twelve_is_two_of_twenty_four(tmp_path: Path) -> None:
    scores = [
        row | {"layer": 2 * row["layer"] + upper, "effect": row["effect"] + 0.02 * upper}
        for row in rows.layer_scores("rte", 0.03)
        for upper in (0, 1)
    ]
    found = products(tmp_path, ablation__rte_of_pretrained_of_1_of_scores=scores)
    (layer,) = kovaleva_disabling.layer_effect(found, "RTE 1")
    assert (layer.value, layer.seeds) == (pytest.approx(4), 1)
    assert layer.interval == "at least 95% over examples"


def test_effects_of_kinds_of_heads(tmp_path: Path) -> None:
    made = rows.strata(2, mrpc={"frames": -0.002, "all": 0.004}, rte={"all": 0.006})
    found = products(tmp_path, **made)
    (frames,) = kovaleva_disabling.stratum_effect(found, "frames")
    half = 0.1 * 1.959964 / 1.644854  # of 90%, as standard errors
    assert ends(frames) == pytest.approx((-0.2, -0.2 - half, -0.2 + half))
    assert (frames.case, frames.n, frames.interval) == ("MRPC", 3, "95% over examples")
    assert (frames.seeds, frames.about) == (2, "f1")
    (one,) = kovaleva_disabling.stratum_effect(found, "all rte")
    assert (one.value, one.case, one.about) == (pytest.approx(0.6), "RTE", "accuracy")
    assert [one.case for one in kovaleva_disabling.stratum_effect(found, "all")] == ["MRPC", "RTE"]


def test_the_most_costly_head_of_a_kind(tmp_path: Path) -> None:
    """Of two heads: the normal distribution's 98.75th percentile is 2.2414."""
    made = rows.kinds_of_heads("mrpc", 2, frames=(-0.002, 0.004), other=(-0.1,))
    (least,) = kovaleva_disabling.lowest_effect(products(tmp_path, **made), "frames")
    half = 0.1 * 2.241403 / 1.644854
    assert ends(least) == pytest.approx((-0.2, -0.2 - half, -0.2 + half))
    assert (least.case, least.n, least.of, least.seeds) == ("MRPC", 2, "heads", 2)
    assert least.about == "f1, 1-1"
    assert least.interval == "95% over examples for all these heads together (Bonferroni)"


def test_the_interval_of_the_most_costly_head_is_of_all_heads(tmp_path: Path) -> None:
    """A head that is known worse may cost more, and one that is known better bounds the cost."""
    made = rows.kinds_of_heads("mrpc", frames=(-0.002, -0.001))
    known_worse = {"low_mrpc": -0.021, "high_mrpc": 0.019}
    made["kovaleva2019_heads"][1] |= known_worse
    (least,) = kovaleva_disabling.lowest_effect(products(tmp_path, **made), "frames")
    wider = 2.241403 / 1.644854
    assert ends(least) == pytest.approx((-0.2, -0.1 - 2 * wider, -0.2 + 0.1 * wider))
