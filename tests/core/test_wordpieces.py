"""Word-level patterns (Clark et al. 2019, section 4.1)."""

import numpy as np
import pytest

from workflow_scripts.core.data.wordpieces import (
    to_words,
    word_attention,
    words_of_units,
)


def slow(pattern: np.ndarray, word: list[int]) -> np.ndarray:
    """Sum to the tokens of a word, mean over the tokens of a word, by plain loops."""
    groups: list[list[int]] = []
    for position, index in enumerate(word):
        known = index >= 0 and any(word[group[0]] == index for group in groups)
        if known:
            next(g for g in groups if word[g[0]] == index).append(position)
        else:
            groups.append([position])
    result = np.zeros((len(groups), len(groups)))
    for a, queries in enumerate(groups):
        for b, keys in enumerate(groups):
            rows = [sum(pattern[query, key] for key in keys) for query in queries]
            result[a, b] = sum(rows) / len(rows)
    return result


def test_sum_to_and_mean_from_split_words() -> None:
    rng = np.random.default_rng(0)
    word = [-1, 0, 0, 1, -1, 2, 3, 3, 3, -1]
    pattern = rng.dirichlet(np.ones(len(word)), size=(2, 3, len(word)))
    words = to_words(pattern, np.array(word))
    assert words.shape == (2, 3, 7, 7)
    for layer in range(2):
        for head in range(3):
            np.testing.assert_allclose(words[layer, head], slow(pattern[layer, head], word), 1e-5)
    np.testing.assert_allclose(words.sum(-1), 1, atol=1e-6)
    assert words_of_units(np.array(word)).tolist() == [-1, 0, 1, -1, 2, 3, -1]


def test_word_attention_sets_special_tokens_apart() -> None:
    rng = np.random.default_rng(3)
    word = np.array([-1, 0, 0, 2, 3, -1])  # word 1 vanished
    pattern = rng.dirichlet(np.ones(6), size=(2, 6)).astype(np.float32)
    found = word_attention(pattern, word)
    assert found.words.tolist() == [0, 2, 3]
    whole = to_words(pattern, word)  # [CLS], three words, [SEP]
    np.testing.assert_array_equal(found.among, whole[:, 1:4, 1:4])
    assert found.among[0, 0, 1] == pytest.approx((pattern[0, 1, 3] + pattern[0, 2, 3]) / 2)
    np.testing.assert_array_equal(found.to_special, whole[:, 1:4, [0, 4]].max(axis=-1))
    np.testing.assert_array_equal(found.from_special, whole[:, [0, 4], 1:4].max(axis=-2))
    alone = word_attention(pattern[:, 1:5, 1:5], word[1:5])
    assert (alone.to_special == -1).all() and (alone.from_special == -1).all()
