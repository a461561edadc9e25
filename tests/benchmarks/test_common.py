"""The arithmetic of the benchmarks, by hand; speed itself is never tested."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from tests.benchmarks import common, machine
from tests.core.tiny_models import HEADS, LAYERS, WIDTH, random_classifier, random_tokens
from workflow_scripts.core.model import ablation_engine, onednn

STAT = "cpu  100 20 30 4000 500 6 7 8 9 10\ncpu0 50 10 15 2000 250 3 3 4 4 5\n"


def test_ratios_pair_the_sides_of_a_round() -> None:
    rounds = common.Rounds({"plain": [8.0, 9.0, 20.0], "ours": [2.0, 3.0, 4.0]}, None)
    assert rounds.ratios("plain", "ours") == [4, 3, 5]
    assert rounds.ratio("plain", "ours") == 4
    assert rounds.span("plain", "ours") == [3, 5]


def test_ratios_over_ours_with_and_without_the_same_kernels() -> None:
    seconds = {"ours": [2.0, 4.0], "plain": [6.0, 20.0], "plain_same_kernels": [2.0, 6.0]}
    assert common.Rounds(seconds, None).over_ours(["plain"]) == {
        "ratio": {"plain": 4},
        "span": {"plain": [3, 5]},
        "ratio_same_kernels": {"plain": 1.25},
        "span_same_kernels": {"plain": [1, 1.5]},
    }
    del seconds["plain_same_kernels"]
    assert set(common.Rounds(seconds, None).over_ours(["plain"])) == {"ratio", "span"}


@pytest.mark.parametrize("available", [True, False])
def test_plain_sides_run_again_with_our_kernels(
    available: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "AVAILABLE", available)
    monkeypatch.setattr(onednn, "AVAILABLE", True)
    monkeypatch.setattr(onednn, "product", lambda states, weight: "oneDNN")
    states, weight = torch.ones(2, 3), torch.ones(4, 3)

    def plain(times: int) -> list[Any]:
        with torch.inference_mode():
            return [torch.nn.functional.linear(states, weight) for _ in range(times)]

    sides = machine.with_same_kernels({"plain": plain})
    assert list(sides) == (["plain", "plain_same_kernels"] if available else ["plain"])
    assert [each.tolist() for each in sides["plain"](1)] == [[[3.0] * 4] * 2]
    if available:
        assert sides["plain_same_kernels"](2) == ["oneDNN"] * 2


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


def test_exponents_by_hand() -> None:
    for power in (0, 1, 2):
        values = [2 * size**power for size in (1, 10, 100)]
        assert common.exponents([1, 10, 100], values) == pytest.approx(
            {"all": power, "last": power}
        )
    bent = common.exponents([1, 2, 4], [1, 1, 4])  # logarithms 0, 1, 2 and 0, 0, 2
    assert bent == pytest.approx({"all": 1, "last": 2})


class LinearLayers(TorchFunctionMode):
    """Counts the operations of linear layers on more than one token."""

    operations = 0

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if function is torch.nn.functional.linear and args[0].dim() > 2 and args[0].shape[-2] > 1:
            self.operations += 2 * args[0].numel() * len(args[1])
        return function(*args, **(kwargs or {}))


def test_operations_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, and by counting what the engine runs: these, and the layers of one plain pass."""
    model, tokens = random_classifier("bert"), random_tokens((16, 16))
    attention = 4 * WIDTH * WIDTH  # queries, keys, values and the merged output, of one token
    feed_forward = 2 * WIDTH * model.config.intermediate_size
    layer = attention + feed_forward
    above = [
        feed_forward + n * layer for n in range(LAYERS - 1)
    ]  # with n layers above but the last
    assert machine.flops(model, tokens) == 2 * 32 * HEADS * sum(above)
    monkeypatch.setattr(onednn, "AVAILABLE", False)
    monkeypatch.setattr(ablation_engine, "_check", lambda *_: None)
    with LinearLayers() as counted:
        heads = ablation_engine.one_head(LAYERS, HEADS)
        ablation_engine.ablate(model, tokens, heads, "zero")
    plain = 2 * 32 * (LAYERS - 1) * layer
    assert counted.operations == machine.flops(model, tokens) + plain
