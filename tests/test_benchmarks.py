"""The arithmetic of the benchmarks, by hand; speed itself is never tested."""

from typing import Any

from benchmarks import common


def test_ratios_pair_the_sides_of_a_round() -> None:
    seconds = {"ours": [2.0, 3.0, 4.0], "plain": [8.0, 9.0, 20.0]}
    seconds["plain_same_kernels"] = [2.0, 6.0, 6.0]
    rounds = common.Rounds(seconds, None)
    assert rounds.ratios("plain", "ours") == [4, 3, 5]
    assert rounds.over_ours(["plain"]) == {
        "ratio": {"plain": 4},
        "span": {"plain": [3, 5]},
        "ratio_same_kernels": {"plain": 1.5},
        "span_same_kernels": {"plain": [1, 2]},
    }


def test_sides_take_turns_and_the_order_is_reversed() -> None:
    calls: list[str] = []
    sides: dict[str, Any] = {name: lambda name=name: calls.append(name) for name in "ab"}
    common.alternate(sides, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
