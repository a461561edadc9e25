"""Measures of Clark et al.'s claims on small tables, by hand."""

import math
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from tests.claims.made_up import heads, products
from workflow_scripts.claims import clark, intervals
from workflow_scripts.claims.products import NotMeasured
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


TABLE1 = [
    {"relation": "all", "accuracy": 40.0, "ci_low": 39.0, "ci_high": 41.0, "baseline": 30.0},
    {"relation": "dobj", "accuracy": 80.0, "ci_low": 76.0, "ci_high": 84.0, "baseline": 40.0},
    {"relation": "det", "accuracy": 76.0, "ci_low": 70.0, "ci_high": 82.0, "baseline": 74.0},
    {"relation": "pobj", "accuracy": 60.0, "ci_low": 55.0, "ci_high": 65.0, "baseline": 61.0},
]
TABLE1 = [
    row
    | {"split_words": 10.0, "with_special_median_change": row["accuracy"] / 100 - 0.7}
    | {"head": "1-2", "direction": "dependent_to_head", "offset": -2, "n": 400}
    | {"held_out_accuracy": row["accuracy"] - 1, "held_out_n": 200}
    for row in TABLE1
]


def test_table1(tmp_path: Path) -> None:
    found = products(tmp_path, clark2019_table1=TABLE1)
    (dobj,) = clark.relation(found, "dobj")
    assert ends(dobj) == (80, 76, 84)
    assert (dobj.n, dobj.reference, dobj.about) == (400, 40, "1-2, offset -2: 40.0")
    assert ends(clark.relation_head_gain(found, "")[0]) == (10, 9, 11)
    # 158 of 200 lie far above 40; 150 of 200 may lie on either side of 74, 118 of 200 of 61.
    assert ends(clark.relations_beyond_offset(found, "")[0]) == (2, 1, 3)
    assert ends(clark.relations_above(found, "75 dobj det poss")[0]) == (2, 1, 2)
    (split,) = clark.split_words(found, "")
    assert ends(split) == pytest.approx((10, 7.43, 13.34), abs=0.01)  # Wilson, 40 of 400
    # The median changes are 0.1, 0.06 and -0.1.
    assert ends(clark.special_tokens_kept(found, "0.08")[0]) == pytest.approx((100 / 3,) * 3)
    upwards = clark.dependents_attend(found, "")[0]
    assert (upwards.value, upwards.n) == (100, 2)
    with pytest.raises(NotMeasured, match=r"no .*prt"):
        clark.relation(found, "prt")


def test_table2(tmp_path: Path) -> None:
    rows = [
        {"system": system, "type": "all", "compared": True, "accuracy": value, "n": 100}
        | {"ci_low": value - 2, "ci_high": value + 2, "head": "3-4" if held_out else None}
        | {"held_out_accuracy": held_out, "held_out_n": 50, "held_out_head": "3-4"}
        for system, value, held_out in (
            ("nearest mention", 20.0, None),
            ("head word match", 50.0, None),
            ("best head", 60.0, 58.0),
        )
    ]
    found = products(tmp_path, clark2019_table2=rows)
    assert clark.antecedents(found, "nearest mention: all")[0].reference is None
    assert clark.antecedents(found, "head word match: all")[0].reference == 20
    (head,) = clark.antecedents(found, "best head: all")
    assert (ends(head), head.reference, head.about) == ((60, 58, 62), 50, "3-4")
    (gain,) = clark.antecedent_gain(found, "head word match")
    wilson = stats.binomtest(29, 50).proportion_ci(method="wilson")
    assert ends(gain) == pytest.approx((8, 100 * wilson.low - 52, 100 * wilson.high - 48))


def test_table3(tmp_path: Path) -> None:
    rows = [
        {"probe": name, "measure": "UAS", "score": score, "n": 10}
        | {"ci_low": score - 1, "ci_high": score + 1}
        for name, score in (("right-branching", 25.0), ("one", 60.0), ("other", 50.0))
    ]
    pair = {"measure": "UAS", "probe": "one", "other": "other", "difference": 10.0}
    pair |= {"ci_low": 9.0, "ci_high": 12.0, "n": 10, "n_documents": 3}
    pairs = [pair, pair | {"measure": "UUAS", "difference": 1.0}]
    found = products(tmp_path, clark2019_table3=rows, clark2019_probe_pairs=pairs)
    assert clark.probe(found, "one")[0].reference == 25
    assert clark.probe(found, "right-branching")[0].reference is None
    assert ends(clark.probe_gain(found, "UAS one over other")[0]) == (10, 9, 12)
    assert ends(clark.probe_gain(found, "UAS other over one")[0]) == (-10, -12, -9)
    assert clark.probe_gain(found, "UAS one over third") == []


def test_heads_of_one_layer(tmp_path: Path) -> None:
    row = {"layer": "all", "within": 0.3, "between": 0.4, "difference": 0.1, "p": 0.025}
    found = products(
        tmp_path, clark2019_clusters=[row, row | {"layer": "1"}], clusters__embedding=[{"x": 1}] * 4
    )
    (measured,) = clark.closer_within_layers(found, "")
    assert ends(measured) == pytest.approx((25, 0, 50))  # two-sided p of 0.05: the end is 0
    assert measured.n == 4


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
