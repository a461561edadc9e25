"""The formulas of the surface chapter against plain loops and values computed by hand."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.surface.entropy import measures_of, row_entropy
from workflow_scripts.surface.relative_position import attention_at, heads_above
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


def test_a_single_token_has_no_neighbour() -> None:
    assert np.isnan(attention_at(np.ones((1, 1, 1, 1)), 1)).all()


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


def test_a_text_without_a_class_of_token() -> None:
    ids, uniform = np.array([1, 10, 11]), np.full((1, 1, 3, 3), 1 / 3)
    actual = attention_to_special(uniform, ids, CARD)
    assert actual["punctuation"].item() == 0  # no attention goes there
    assert np.isnan(actual["sep_to_sep"]).all()  # there is no such query


def test_entropy_with_a_zero_in_a_row() -> None:
    rows = np.array([[0.5, 0.5, 0, 0], [0.25] * 4, [1, 0, 0, 0], [0.7, 0.2, 0.1, 0]])
    by_hand = [
        np.log(2),
        np.log(4),
        0,
        -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1)),
    ]
    np.testing.assert_allclose(row_entropy(rows[None, None])[0, 0], by_hand, atol=1e-6)


def test_entropy_against_a_loop(pattern: np.ndarray) -> None:
    actual = row_entropy(pattern)
    for index in np.ndindex(actual.shape):
        weights = [float(w) for w in pattern[index]]
        expected = -sum(w * np.log(w) for w in weights if w > 0)
        assert actual[index] == pytest.approx(expected, abs=1e-4)


def test_heads_above() -> None:
    frame = pd.DataFrame(
        [("next", 0, 2, 0.4), ("next", 7, 10, 0.6), ("previous", 1, 0, 0.9), ("next", 1, 1, 0.8)],
        columns=["target", "layer", "head", "attention"],
    ).assign(ci_low=0, ci_high=1, n=5, n_documents=2)
    actual = heads_above(frame, 0.5)
    assert actual["head"].tolist() == ["2-2", "8-11", "2-1"]
    assert actual["target"].tolist() == ["next", "next", "previous"]


def test_largest_weights_against_a_loop(pattern: np.ndarray) -> None:
    actual = measures_of(pattern)
    np.testing.assert_array_equal(actual["entropy"], row_entropy(pattern))
    for index in np.ndindex(pattern.shape[:3]):
        largest = max(float(weight) for weight in pattern[index])
        assert actual["largest"][index] == largest
    tenths = measures_of(np.array([[[[0.1] * 10, [0.2] + [0.8 / 9] * 9]]]).astype(np.float16))
    assert tenths["at_most_tenth"].ravel().tolist() == [1, 0]
