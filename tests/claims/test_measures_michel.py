"""Measures of Michel et al.'s claims about classifiers on small tables, by hand."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.claims.made_up import products
from workflow_scripts.claims import michel, michel_pruning
from workflow_scripts.claims.intervals import apart, area
from workflow_scripts.claims.noise import ceiling
from workflow_scripts.claims.verdicts import Measured


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def effect(value: float, width: float, **more: Any) -> dict:
    row = {"task": "SST-2", "split": "dev", "mode": "zero", "metric": "accuracy", "seed": 1}
    row |= {"effect": value, "ci_low": value - width, "ci_high": value + width, "n": 200, "p": 0.5}
    row |= {"p_t": None, "p_corrected": 0.5}
    return row | more


def power(loss: float | None, **more: Any) -> dict:
    row = {"task": "SST-2", "split": "dev", "unit": "head", "mode": "zero", "metric": "accuracy"}
    return row | {"loss": loss} | more


def point(share: float, change: float, strategy: str = "importance", **more: Any) -> dict:
    row = {"task": "SST-2", "metric": "accuracy", "strategy": strategy, "share": share, "runs": 1}
    row |= {"change": change, "change_low": change - 0.02, "change_high": change + 0.01, "n": 30}
    return row | more


def test_heads_without_a_significant_loss(tmp_path: Path) -> None:
    """Significant by the t-test where there is one; what is surely small counts for the low end."""
    rows = [
        effect(0, 1),  # surely loses less than 1.4 points
        effect(-1, 2),  # no significant loss, but perhaps one of 3 points
        effect(-5, 1, p=0.001),
        effect(-1, 0.3, p=0.001, p_t=0.5),  # the t-test finds nothing
        effect(-1, 0.3, p=0.5, p_t=0.001),  # significant, however small
        effect(5, 1, p=0.001),  # no loss
    ]
    rows = [row | {"head": f"1-{number}"} for number, row in enumerate(rows)]
    rows += [effect(-9, 1, split="dev_tweets", p=0.001, head="1-1"), effect(-9, 1, mode="uniform")]
    losses = [power(4.9), power(None, split="dev_tweets"), power(9.0, unit="layer")]
    found = products(tmp_path, michel2019_table1=rows, michel2019_power=losses)
    dev, tweets = michel.classifier_heads_without_loss(found, "0.01 1.4")
    assert ends(dev) == pytest.approx((100 * 4 / 6, 100 * 3 / 6, 100 * 4 / 6))
    assert (dev.case, dev.n, dev.interval) == ("SST-2", 6, "bounds of the count")
    assert dev.about == (
        "accuracy, n = 200 examples; a loss of 4.9 points would be found after correction"
    )
    assert ends(tweets) == (0, 0, 0)
    assert "no loss would be found" in tweets.about


def test_layers_of_one_head(tmp_path: Path) -> None:
    layers = [
        effect(0.2, 1, gain=0.0, gain_low=-1.0, gain_high=0.8, layer=1, head="1-1"),
        effect(-1.0, 1, gain=-1.5, gain_low=-2.0, gain_high=-1.3, layer=2, head="2-1"),
        effect(-3, 1, gain=-3.0, gain_low=-4.0, gain_high=-1.5, layer=3, head="3-1"),
    ]
    found = products(tmp_path, michel2019_table3=layers)
    (same,) = michel.classifier_layers_of_one_head(found, "effect 1.4")
    assert ends(same) == pytest.approx((200 / 3, 100 / 3, 200 / 3))
    (other,) = michel.classifier_layers_of_one_head(found, "gain 1.4")
    assert ends(other) == pytest.approx((100 / 3, 100 / 3, 200 / 3))
    assert (other.n, other.of, other.about) == (3, "layers", "accuracy, n = 200 examples")
    assert other.interval == "bounds of the count"
    (worst,) = michel.worst_layer_of_one_head(found, "")
    assert (ends(worst), worst.about) == ((-3, -4, -2), "accuracy, 3-1 left in layer 3")
    assert (worst.seeds, worst.interval) == (1, "")


def test_heads_and_layers_of_several_seeds(tmp_path: Path) -> None:
    """Shares are means over seeds, and so is the effect in the worst layer of each."""
    heads = [
        effect(value, 0.1, seed=seed, head=head, p=0.001)
        for seed, values in ((1, (-5, -5)), (2, (-5, 1)), (3, (1, 1)))
        for head, value in zip(("1-1", "1-2"), values, strict=True)
    ]
    layers = [
        effect(value, width, seed=seed, layer=layer, head=f"{layer}-1")
        for seed, width, values in ((1, 1, (-5, 0)), (2, 4, (0, -2)), (3, 1, (-2, 0)))
        for layer, value in zip((1, 2), values, strict=True)
    ]
    losses = [power(loss, seed=seed) for seed, loss in ((1, 4.0), (2, 6.0), (3, 5.0))]
    printed = {"table1": heads, "table3": layers, "power": losses}
    found = products(tmp_path, **{f"michel2019_{name}": rows for name, rows in printed.items()})
    (free,) = michel.classifier_heads_without_loss(found, "0.01 1.4")
    assert (ends(free), free.n, free.seeds) == ((50, 50, 50), 2, 3)  # 0, 1 and 2 of 2 heads
    assert "a loss of 6.0 points" in free.about
    (small,) = michel.classifier_layers_of_one_head(found, "effect 1.4")
    assert (small.value, small.n, small.seeds) == (50, 2, 3)  # 1 of 2 layers with each seed
    (worst,) = michel.worst_layer_of_one_head(found, "")
    assert ends(worst) == pytest.approx((-3, (-6 - 6 - 3) / 3, (-4 + 2 - 1) / 3))
    assert worst.about == "accuracy, 1-1 left in layer 1 or 2-1 left in layer 2"
    assert (worst.seeds, worst.interval) == (3, "95% over examples, mean of the seeds' intervals")


def test_pruning(tmp_path: Path) -> None:
    rows = [point(0.0, 0.0), point(47.0, -0.03, runs=2), point(90.0, -0.3)]
    rows += [point(40.0, -0.5, strategy="random"), point(50.0, -0.1, task="MRPC", metric="f1")]
    found = products(tmp_path, michel2019_fig3=rows)
    sst2, mrpc = michel_pruning.pruned(found, "40")
    assert ends(sst2) == pytest.approx((-3, -5, -2))
    assert (sst2.about, sst2.seeds) == ("accuracy, 47% of the heads", 2)
    assert sst2.interval == "95% over examples, mean of the seeds' intervals"
    assert mrpc.interval == ""
    assert mrpc.about == "f1, 50% of the heads"
    (only,) = michel_pruning.pruned(found, "50 mrpc")
    assert (only.value, only.task) == (-10, "mrpc")


@pytest.mark.parametrize(
    ("metric", "comparable"),
    [("pearson", False), ("matthews", False), ("f1", True), ("accuracy", True)],
)
def test_points_of_a_correlation_are_not_points_of_accuracy(
    tmp_path: Path, metric: str, comparable: bool
) -> None:
    """For every measure whose bound is of MNLI's accuracy; appendix B's are of their own task."""
    row = {"task": "CoLA", "metric": metric}
    masked = effect(0, 1, **row, head="1-1", layer=1, gain=0, gain_low=-1, gain_high=1)
    left = {"kept": "most important", "unpruned": 50.0, "n": 9, "runs": 1}
    left |= {"change": -7.0, "change_low": -9.0, "change_high": -5.0}
    found = products(
        tmp_path,
        michel2019_table1=[masked],
        michel2019_table3=[masked],
        michel2019_power=[power(4.9, **row)],
        michel2019_one_head=[left | row],
        michel2019_fig3=[point(40.0, -0.01, **row)],
    )
    numbers = [
        *michel.classifier_heads_without_loss(found, "0.01 1.4"),
        *michel.classifier_layers_of_one_head(found, "effect 1.4"),
        *michel.classifier_layers_of_one_head(found, "gain 1.4"),
        *michel.worst_layer_of_one_head(found, ""),
        *michel_pruning.one_head_each(found, ""),
        *michel_pruning.pruned(found, "40"),
    ]
    assert [number.not_comparable == "" for number in numbers] == [comparable] * 6
    (own,) = michel_pruning.pruned(found, "50 cola")
    assert own.not_comparable == ""


def test_orders_compared_by_their_area(tmp_path: Path) -> None:
    """Trapezoids by hand; the order that leads at half may lose over the whole curve."""
    curves = {"importance": (0.0, -0.2, -0.4), "ablation": (0.0, -0.3, -0.1)}
    rows = [
        point(share, change, strategy)
        for strategy, changes in curves.items()
        for share, change in zip((0.0, 50.0, 100.0), changes, strict=True)
    ]
    found = products(tmp_path, michel2019_fig3=rows[::-1])
    (gap,) = michel_pruning.order_area(found, "importance over ablation")
    ours = 100 * (0.5 * (0 - 0.2) / 2 + 0.5 * (-0.2 - 0.4) / 2)  # -20
    other = 100 * (0.5 * (0 - 0.3) / 2 + 0.5 * (-0.3 - 0.1) / 2)  # -17.5
    assert ours - other == pytest.approx(-2.5)
    # Each area lies 2 points above its lower end and 1 below its upper one.
    half = math.hypot(2, 1)
    assert ends(gap) == pytest.approx((-2.5, -2.5 - half, -2.5 + half))
    assert gap.about == "accuracy, -20.0 against -17.5"
    assert gap.interval == "95% as if the two were independent"
    assert gap.not_comparable == ""  # the study has no random order
    # A random order of -20 is beaten by 2.5 points, with an end at 2.5 - sqrt(5) = 0.26.
    for lost, comparable in ((0.4, True), (0.39, False)):
        random = [point(share, -lost * share / 100, "random") for share in (0.0, 100.0)]
        found = products(tmp_path, michel2019_fig3=rows + random)
        (gap,) = michel_pruning.order_area(found, "importance over ablation")
        assert gap.about == f"accuracy, -20.0 against -17.5; a random order: {-50 * lost:.1f}"
        assert (gap.not_comparable == "") == comparable


def test_square_and_add_by_hand(tmp_path: Path) -> None:
    one, other = Measured(10, 7, 11), Measured(4, 0, 5)
    assert apart(one, other) == pytest.approx((6, 6 - math.sqrt(9 + 1), 6 + math.sqrt(1 + 16)))
    rows = pd.DataFrame({"x": [0.0, 1.0, 3.0], "y": [0.0, 4.0, 0.0]})
    assert area(rows["x"], rows, ("y",)) == pytest.approx(((2 + 4) / 3,))


def test_one_metric_of_each_task(tmp_path: Path) -> None:
    """Accuracy before F1; F1 where a table has no accuracy."""
    both = [effect(-5, 1, task="MRPC", metric="f1", p=0.001), effect(0, 1, task="MRPC")]
    both = [row | {"head": "1-1"} for row in both]
    left = {
        "task": "MRPC",
        "metric": "f1",
        "kept": "most important",
        "unpruned": 88.0,
        "n": 9,
        "runs": 1,
    }
    left |= {"change": -7.0, "change_low": -9.0, "change_high": -5.0}
    found = products(
        tmp_path,
        michel2019_table1=both,
        michel2019_power=[power(4.9, task="MRPC")],
        michel2019_one_head=[left, left | {"kept": "random"}],
    )
    (heads_,) = michel.classifier_heads_without_loss(found, "0.01 1.4")
    assert (heads_.value, heads_.n) == (100, 1)
    (single,) = michel_pruning.one_head_each(found, "")
    assert (ends(single), single.about) == ((-7, -9, -5), "f1, 88.0 before")


def test_agreement_with_another_domain_alone(tmp_path: Path) -> None:
    """Neither two other domains, nor halves, tasks or seeds."""
    pair = {"mode": "zero", "pearson_low": 0.1, "pearson_high": 0.7, "n": 72}
    pairs = [
        pair | {"kind": "datasets", "one": "MNLI matched", "other": "mismatched", "pearson": 0.5},
        pair | {"kind": "datasets", "one": "SST-2 dev", "other": "tweets", "pearson": 0.4},
        pair | {"kind": "datasets", "one": "SST-2 tweets", "other": "products", "pearson": 0.9},
        *(
            pair | {"kind": "halves", "one": one, "other": "other half", "pearson": halves}
            for one, halves in (
                ("MNLI matched", 0.6),
                ("MNLI mismatched", 0.5),
                ("SST-2 dev", 0.9),
                ("SST-2 tweets", -0.1),
            )
        ),
        pair | {"kind": "tasks", "one": "MNLI", "other": "RTE", "pearson": 0.1},
        pair | {"kind": "seeds", "one": "MNLI seed 1", "other": "MNLI seed 2", "pearson": 0.1},
    ]
    scores = {
        f"ablation__{task}_of_pretrained_of_1_of_scores": [{"task": task, "seed": 1}]
        for task in ("mnli", "sst2")
    }
    found = products(tmp_path, michel2019_pairs=pairs, **scores)
    mnli, sst2 = michel.agreement(found, "0.68")
    assert (mnli.case, *ends(mnli)) == ("MNLI matched and mismatched", 0.5, 0.1, 0.7)
    assert mnli.about == "halves of MNLI matched: 0.60, of mismatched: 0.50"
    assert (mnli.interval, mnli.not_comparable) == ("95% over heads", "")
    assert (sst2.case, sst2.task) == ("SST-2 dev and tweets", "sst2")
    # Halves that disagree know nothing of the heads, whatever the other set knows.
    assert sst2.not_comparable == (
        "too noisy: by their halves the sets can correlate by 0.00, the paper's do by 0.68"
    )
    (only,) = michel.agreement(found, "0.71 mnli")
    assert (only.task, only.not_comparable != "") == ("mnli", True)


def test_what_noisy_effects_can_agree_by() -> None:
    """By hand, and by the correlations of simulated heads that matter alike on both sets."""
    # Halves of 0.6 and 0.5 make wholes of 0.75 and 2/3: the root of their product is of 1/2.
    assert ceiling(0.6, 0.5) == pytest.approx(math.sqrt(0.5))
    rng, heads = np.random.default_rng(1), 400_000
    true = rng.normal(size=heads)
    halves = {name: true + rng.normal(0, noise, (2, heads)) for name, noise in (("a", 1), ("b", 2))}
    expected = ceiling(*(np.corrcoef(both)[0, 1] for both in halves.values()))
    found = np.corrcoef(*(both.mean(axis=0) for both in halves.values()))[0, 1]
    assert found == pytest.approx(expected, abs=0.01)


def test_speed(tmp_path: Path) -> None:
    speed = {"task": "MNLI", "batch_size": 16, "original": 100.0, "pruned": 120.0, "repeats": 4}
    speed |= {"original_sd": 3.0, "pruned_sd": 4.8, "device": "cuda", "threads": 1}
    found = products(tmp_path, michel2019_table4=[speed, speed | {"device": "cpu"}])
    gpu, cpu = michel_pruning.speed_gain(found, "16")
    # Relative errors of 3 and 4% make one of 5%, over sqrt(4); t is 2.447 at 6 degrees of freedom.
    half = 120 * 2.447 * 0.05 / 2
    assert ends(gpu) == pytest.approx((20, 20 - half, 20 + half), abs=1e-2)
    assert (gpu.not_comparable, gpu.interval) == ("", "95% over repeats (Student)")
    assert cpu.not_comparable == "measured on a CPU"
