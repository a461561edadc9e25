"""Measures of Clark et al.'s claims on what heads attend to, on small tables, by hand."""

import math
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.made_up import heads, products
from workflow_scripts.claims import clark, intervals
from workflow_scripts.claims.verdicts import Measured


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def test_layers_at_the_same_depth() -> None:
    twelve = pd.DataFrame({"layer": range(12)})
    assert list(clark.at_depth(twelve, 6, 10)["layer"] + 1) == [6, 7, 8, 9, 10]
    six = pd.DataFrame({"layer": range(6)})
    assert list(clark.at_depth(six, 6, 10)["layer"] + 1) == [3, 4, 5]
    assert list(clark.at_depth(six, 11, 12)["layer"] + 1) == [6]
    assert list(clark.at_depth(six, 1, 1)["layer"] + 1) == [1]


def test_attention_to_special_tokens(tmp_path: Path) -> None:
    rows = heads(12, {(5, 0): 0.4, (5, 1): 0.6, (0, 0): 0.9}, "attention", target="sep")
    found = products(tmp_path, surface__special_tokens=rows)
    (measured,) = clark.special_attention(found, "sep 6-10")
    assert ends(measured) == pytest.approx((10, 9, 11))  # (40 + 60) / 10 heads
    assert (measured.n, measured.case) == (5, "layers 6 to 10")


def test_attention_of_early_heads_against_middle_ones(tmp_path: Path) -> None:
    """Of 12 layers the first four give 40 and 0%, the next four 8 and 0%, the deep ones more."""
    values = {(layer, 0): (0.4, 0.08, 0.9)[layer // 4] for layer in range(12)}
    found = products(tmp_path, surface__special_tokens=heads(12, values, "attention", target="cls"))
    (measured,) = clark.more_attention_below(found, "cls 1-4 5-8")
    assert ends(measured) == pytest.approx((16, 14, 18))  # 20 - 4, and 1 for either end
    assert measured.about == "layers 1 to 4: 20.0, layers 5 to 8: 4.0"
    assert "conservative" in measured.interval


def test_heads_in_the_first_half(tmp_path: Path) -> None:
    """Three heads surely, a fourth by its value, a fifth perhaps; of either half."""
    values = {(0, 0): 0.9, (1, 0): 0.8, (1, 1): 0.505, (2, 0): 0.7, (3, 0): 0.495}
    rows = heads(4, values, "attention", target="next")
    rows += heads(4, {}, "attention", target="previous")
    found = products(tmp_path, surface__position=rows)
    (measured,) = clark.heads_in_first_half(found, "next")
    # Surely 2 early ones and 1 late one, perhaps one more of each.
    assert ends(measured) == pytest.approx((75, 50, 75))
    assert (measured.n, measured.about) == (4, "1-1 2-1 2-2 3-1")
    assert clark.heads_in_first_half(found, "previous") == []
    for layers, share in (((0, 1), 100), ((2, 3), 0)):  # perhaps none, but none elsewhere
        four = {(layer, head): 0.505 for layer in layers for head in (0, 1)}
        table = heads(4, four, "attention", target="next")
        found = products(tmp_path / str(share), surface__position=table)
        assert ends(clark.heads_in_first_half(found, "next")[0]) == (share, share, share)


def test_the_layers_of_few_heads_say_nothing(tmp_path: Path) -> None:
    """Of three heads, however sure they are."""
    values = {(0, 0): 0.9, (1, 0): 0.8, (3, 1): 0.9}
    table = heads(4, values, "attention", target="next")
    found = products(tmp_path, surface__position=table)
    (measured,) = clark.heads_in_first_half(found, "next")
    assert ends(measured) == pytest.approx((200 / 3, math.nan, math.nan), nan_ok=True)
    assert (measured.n, measured.interval) == (3, "")
    assert measured.about == "1-1 2-1 4-2: too few heads to tell, fewer than 4"


def test_heads_above_half(tmp_path: Path) -> None:
    values = {(0, 0): 0.9, (1, 0): 0.505, (2, 1): 0.495, (2, 0): 0.2}
    found = products(tmp_path, surface__position=heads(3, values, "attention", target="next"))
    (measured,) = clark.heads_above_half(found, "next")
    assert ends(measured) == (2, 1, 3)
    assert measured.about == "1-1 2-1"


def test_little_attention_to_self(tmp_path: Path) -> None:
    rows = heads(2, {(0, 0): 0.5, (0, 1): 0.095}, "attention", target="self")
    found = products(tmp_path, surface__position=rows)
    assert ends(clark.little_attention_to_self(found, "0.1")[0]) == (75, 50, 75)


def test_gradient_ratio(tmp_path: Path) -> None:
    one = dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 0.2)
    rows = heads(2, one, "gradient", target="sep")
    rows += heads(2, dict.fromkeys(one, 0.5), "gradient", target="unmasked")
    rows = [row | {"masked_lm_head": "own"} for row in rows]
    special = heads(2, one, "attention", target="sep") + heads(2, {}, "attention", target="cls")
    found = products(tmp_path, surface__gradients=rows, surface__special_tokens=special)
    for of in ("sep", "most attended"):
        (measured,) = clark.gradient_ratio(found, of)
        assert ends(measured) == pytest.approx((0.4, 0.19 / 0.51, 0.21 / 0.49))
        assert measured.about == "sep, layer 2, own head"


def test_entropies(tmp_path: Path) -> None:
    rows = heads(3, {(0, 1): 4.0, (0, 0): 1.0, (2, 0): 3.5}, "entropy", query="all")
    rows += heads(3, {(2, 0): 3.0, (2, 1): 4.0, (0, 0): 2.0}, "entropy", query="cls")
    found = products(tmp_path, surface__entropy=rows)
    (broad,) = clark.broadest_in_first_layer(found, "")
    assert ends(broad) == pytest.approx((0.5, 0.48, 0.52))
    (cls,) = clark.entropy_from_cls(found, "")
    assert ends(cls) == pytest.approx((3.5, 3.49, 3.51))
    assert cls.reference == pytest.approx(0.5)


def test_weights_of_broad_heads(tmp_path: Path) -> None:
    row = {"entropy": 4.0, "ci_low": 3.9, "ci_high": 4.1, "n": 7, "head": "1-1"}
    rows = [
        row | {"at_most_tenth": x, "at_most_tenth_low": x - 0.1, "at_most_tenth_high": x + 0.1}
        for x in (0.7, 0.9)
    ]
    found = products(tmp_path, clark2019_broad=rows)
    (measured,) = clark.no_weight_above_tenth(found, "")
    assert ends(measured) == pytest.approx((80, 70, 90))
    assert (measured.n, measured.about) == (7, "2 heads, 1-1 the broadest")


def test_heads_of_one_layer(tmp_path: Path) -> None:
    row = {"layer": "all", "within": 0.3, "between": 0.4, "difference": 0.1, "p": 0.025}
    row |= {"shuffled_low": -0.06, "shuffled_high": 0.08}
    found = products(
        tmp_path, clark2019_clusters=[row, row | {"layer": "1"}], clusters__embedding=[{"x": 1}] * 4
    )
    (measured,) = clark.closer_within_layers(found, "")
    assert ends(measured) == pytest.approx((25, 5, 40))  # 0.1 - 0.08 and 0.1 + 0.06, of 0.4
    assert (measured.n, measured.about) == (4, "one-sided p = 0.025")


def test_intervals() -> None:
    low, high = intervals.share(8, 10)
    assert (low, high) == pytest.approx((49.02, 94.33), abs=0.01)  # Wilson 1927, by hand
    mean, low, high = intervals.over_runs([1.0, 2.0, 3.0])
    assert (mean, high - mean) == pytest.approx((2, 4.3027 / math.sqrt(3)), abs=1e-4)
    assert all(map(math.isnan, intervals.over_runs([1.0])[1:]))
    low, high = intervals.of_correlation(0.5, 28)
    assert (low, high) == pytest.approx((0.156, 0.736), abs=1e-3)  # atanh(.5) ± 1.96 / 5
    count = intervals.counted([True, False], [True, True], [True, True])
    assert (ends(count), count.n) == ((2, 1, 2), 2)
