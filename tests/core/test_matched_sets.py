"""The randomisation test of matched sets, against plain loops, all choices, and simulations."""

from itertools import product

import numpy as np
import pytest

from workflow_scripts.core.stats.randomisation import excesses, matched_p_values, sampled_members


def slow_mean(sets: list[np.ndarray], weights: np.ndarray, chosen: tuple[int, ...]) -> np.ndarray:
    """The weighted mean excess of the chosen members, [family, head]."""
    total = 0
    for values, weight, place in zip(sets, weights, chosen, strict=True):
        others = [value for number, value in enumerate(values) if number != place]
        total = total + weight * (values[place] - np.mean(others, axis=0))
    return total


def made_up(rng: np.random.Generator, n: int, heads: int, families: int = 1) -> list[np.ndarray]:
    """Sets of two to five members, whose values have long tails and something in common."""
    sets = []
    for _ in range(n):
        shape = (int(rng.integers(2, 6)), families, heads)
        sets.append(np.exp(0.7 * (rng.normal(size=(shape[0], 1, 1)) + rng.normal(size=shape))))
    return sets


def test_excesses_by_hand() -> None:
    values = np.array([[5.0], [1.0], [3.0]], dtype=np.float32)
    assert excesses(values)[:, 0].tolist() == [3.0, -3.0, 0.0]
    assert excesses(values[:2])[:, 0].tolist() == [4.0, -4.0]


def test_p_values_by_a_plain_loop() -> None:
    rng = np.random.default_rng(4)
    sets = made_up(rng, 9, 4, families=2)
    for values in sets:
        values[0, :, 0] += 1.5
        values[0, :, 3] += 0.8
    weights = rng.random(9)
    observed = np.abs(slow_mean(sets, weights, (0,) * 9))
    n_members = np.array([len(values) for values in sets])
    rows = np.concatenate(list(sampled_members(n_members, 700, 7)))  # more than one block
    assert len(rows) == 700
    assert (rows.max(axis=0) == n_members - 1).all()
    sampled = [np.abs(slow_mean(sets, weights, tuple(row))) for row in rows]
    p, corrected = matched_p_values(sets, weights, 700, 7)
    for family in range(2):
        everything = [observed[family], *(draw[family] for draw in sampled)]
        # The p-value of each head in each draw, the observed one first.
        alone = np.array(
            [sum(other >= draw - 1e-9 for other in everything) / 701 for draw in everything]
        )
        assert p[family] == pytest.approx(alone[0])
        remaining, so_far = sorted(range(4), key=lambda head: alone[0][head]), 0.0
        while remaining:
            head = remaining[0]
            beyond = sum(row[remaining].min() <= alone[0][head] + 1e-9 for row in alone) / 701
            so_far = max(so_far, beyond)
            assert corrected[family, head] == pytest.approx(so_far)
            remaining.pop(0)
    assert len(set(corrected.ravel())) > 2


def test_p_values_are_those_of_all_choices() -> None:
    rng = np.random.default_rng(1)
    sets = made_up(rng, 6, 3)
    for values in sets:
        values[0, :, 0] += 1
    weights = np.full(6, 1 / 6)
    every = product(*(range(len(values)) for values in sets))
    means = np.array([np.abs(slow_mean(sets, weights, chosen))[0] for chosen in every])
    exact = (means >= means[0] - 1e-9).mean(axis=0)
    p, _ = matched_p_values(sets, weights, 20_000, 1)
    assert p[0] == pytest.approx(exact, abs=0.015)


def test_the_family_wise_error_is_kept_for_few_sets_with_long_tails() -> None:
    rng = np.random.default_rng(2)
    alone = together = 0
    for seed in range(200):
        p, corrected = matched_p_values(made_up(rng, 25, 20), np.full(25, 1 / 25), 999, seed)
        assert (corrected >= p - 1e-12).all()
        alone += bool((p < 0.05).any())
        together += bool((corrected < 0.05).any())
    assert alone > 0.3 * 200  # twenty tests at 5% each
    assert together < 0.09 * 200  # 5% but for chance


def test_what_is_there_is_found_among_many_heads() -> None:
    rng = np.random.default_rng(3)
    found, false = np.zeros(5), 0
    for seed in range(20):
        sets = made_up(rng, 100, 72)
        for values in sets:
            values[0, :, :5] *= 2.2
        _, corrected = matched_p_values(sets, np.full(100, 1 / 100), 2999, seed)
        found += corrected[0, :5] < 0.05
        false += bool((corrected[0, 5:] < 0.05).any())
    assert (found >= 18).all()
    assert false <= 3
