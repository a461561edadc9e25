"""The formulas of the surface chapter against plain loops and values computed by hand."""

import numpy as np
import pytest

from workflow_scripts.surface.entropy import measures_of, row_entropy
from workflow_scripts.surface.relative_position import attention_at
from workflow_scripts.surface.special_tokens import attention_to_special

CARD = {"special": {"cls": 1, "sep": 2}, "punctuation": [3, 4]}
IDS = np.array([1, 10, 3, 11, 2, 12, 4, 2])


@pytest.fixture
def pattern() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(len(IDS)), size=(2, 3, len(IDS))).astype(np.float16)


def slow_mean(pattern: np.ndarray, queries: list[int], keys) -> np.ndarray:
    """Mean over queries of the summed attention to keys(query), one head at a time."""
    result = np.zeros(pattern.shape[:2])
    for layer in range(pattern.shape[0]):
        for head in range(pattern.shape[1]):
            sums = [sum(float(pattern[layer, head, q, k]) for k in keys(q)) for q in queries]
            result[layer, head] = sum(sums) / len(sums)
    return result


@pytest.mark.parametrize("offset", [0, -1, 1])
def test_position(pattern: np.ndarray, offset: int) -> None:
    queries = [q for q in range(len(IDS)) if 0 <= q + offset < len(IDS)]
    expected = slow_mean(pattern, queries, lambda q: [q + offset])
    np.testing.assert_allclose(attention_at(pattern, offset), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("target", "queries", "keys"),
    [
        ("cls", range(8), [0]),
        ("sep", range(8), [4, 7]),
        ("punctuation", range(8), [2, 6]),
        ("sep_to_sep", [4, 7], [4, 7]),
        ("other_to_sep", [0, 1, 2, 3, 5, 6], [4, 7]),
    ],
)
def test_special_tokens(pattern: np.ndarray, target: str, queries: list, keys: list) -> None:
    expected = slow_mean(pattern, list(queries), lambda _: keys)
    actual = attention_to_special(pattern, IDS, CARD)[target]
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_entropy_with_a_zero_in_a_row() -> None:
    rows = np.array([[0.5, 0.5, 0, 0], [0.25] * 4, [1, 0, 0, 0], [0.7, 0.2, 0.1, 0]])
    by_hand = [
        np.log(2),
        np.log(4),
        0,
        -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1)),
    ]
    np.testing.assert_allclose(row_entropy(rows[None, None])[0, 0], by_hand, atol=1e-6)


def test_largest_weights_against_a_loop(pattern: np.ndarray) -> None:
    actual = measures_of(pattern)
    np.testing.assert_array_equal(actual["entropy"], row_entropy(pattern))
    for index in np.ndindex(pattern.shape[:3]):
        largest = max(float(weight) for weight in pattern[index])
        assert actual["largest"][index] == largest
    tenths = measures_of(np.array([[[[0.1] * 10, [0.2] + [0.8 / 9] * 9]]]).astype(np.float16))
    assert tenths["at_most_tenth"].ravel().tolist() == [1, 0]
