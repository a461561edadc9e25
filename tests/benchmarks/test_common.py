"""The arithmetic of the benchmarks, by hand; speed itself is never tested."""

import json
import time

import pytest

from tests.benchmarks import common, machine
from tests.core.tiny_models import HEADS, LAYERS, WIDTH, random_classifier, random_tokens

STAT = "cpu  100 20 30 4000 500 6 7 8 9 10\ncpu0 50 10 15 2000 250 3 3 4 4 5\n"


def test_ratios_pair_the_sides_of_a_round() -> None:
    rounds = common.Rounds({"plain": [8.0, 9.0, 20.0], "ours": [2.0, 3.0, 4.0]}, None)
    assert rounds.ratios("plain", "ours") == [4, 3, 5]
    assert rounds.ratio("plain", "ours") == 4
    assert rounds.span("plain", "ours") == [3, 5]


def test_sides_take_turns_and_the_order_is_reversed() -> None:
    calls = []
    sides = {name: lambda name=name: calls.append(name) for name in "ab"}
    rounds = common.alternate(sides, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert {name: len(seconds) for name, seconds in rounds.seconds.items()} == {"a": 3, "b": 3}


def test_busy_time_leaves_idle_and_waiting_cores_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common.os, "sysconf", {"SC_CLK_TCK": 100}.__getitem__)
    assert common.busy_seconds(STAT) == pytest.approx((100 + 20 + 30 + 6 + 7 + 8) / 100)


def test_others_are_all_but_ourselves() -> None:
    start = common.Busy(clock=10.0, anyone=100.0, own=50.0)
    assert common.Busy(14.0, 109.0, 53.0).others_since(start) == pytest.approx((9 - 3) / 4)
    assert common.Busy(14.0, 102.0, 53.0).others_since(start) == 0
    assert common.Busy(14.0, None, 53.0).others_since(start) is None


def test_own_work_counts_as_own() -> None:
    start, until = common.Busy.now(), time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert common.Busy.now().own - start.own == pytest.approx(0.1, abs=0.05)


def test_a_busy_machine_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    common.report("some", 1.5, ratio=2.34567)
    message, line = capsys.readouterr().out.splitlines()
    assert message == "The machine was not idle: other processes kept 1.50 cores busy."
    assert json.loads(line) == {"benchmark": "some", "ratio": 2.346, "busy_others": 1.5}
    for others in (0.05, None):
        common.report("some", others)
        assert json.loads(capsys.readouterr().out) == {"benchmark": "some", "busy_others": others}


def test_operations_of_a_sweep_by_hand() -> None:
    """A layer takes 12 products of width x width for a token, the ablated layer 8 of them."""
    model, tokens = random_classifier("bert"), random_tokens((9, 23))
    product = 2 * WIDTH * WIDTH * (9 + 23)
    by_layer = [8 * product + (LAYERS - 2 - depth) * 12 * product for depth in range(LAYERS - 1)]
    assert machine.flops(model, tokens) == pytest.approx(HEADS * sum(by_layer))
