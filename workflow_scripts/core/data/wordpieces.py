"""From wordpieces to words (Clark et al. 2019, section 4.1).

Attention to a split word is summed over its wordpieces; attention from it is averaged or, of a
decoder, whose last wordpiece alone has seen the whole word, that of the last one. Special tokens
stay single units of their own, so the rows of a word-level pattern still sum to 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workflow_scripts.core.data.annotations import Annotated


def units(word: np.ndarray) -> np.ndarray:
    """Unit of each token, int [L]: wordpieces of one word share a unit, others have their own.

    `word` is the word index of each token and -1 for special tokens. Units are numbered by first
    appearance, so they keep the order of the text.
    """
    keys = np.where(word >= 0, word, -1 - np.arange(len(word)))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def words_of_units(word: np.ndarray) -> np.ndarray:
    """Word index of each unit, int [U]; -1 for special tokens."""
    unit = units(word)
    result = np.full(unit.max(initial=-1) + 1, -1, dtype=np.int64)
    result[unit] = word
    return result


def names_of_units(word: np.ndarray, words: Sequence[str], decoder: bool) -> list[str]:
    """The name of each unit in a drawing: its word or, where it is none, what stands there."""
    start, other = ("(start)", "(blank)") if decoder else ("[CLS]", "[SEP]")
    names = [words[index] if index >= 0 else other for index in words_of_units(word)]
    return names if word[0] >= 0 else [start, *names[1:]]


def pairs_of_units(index: np.ndarray, pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    """Which pairs of units are one of `pairs` of words, bool [U, U]; `index` has -1 for no word."""
    wanted = set(pairs)
    return np.array([[(one, other) in wanted for other in index] for one in index], dtype=bool)


def to_words(pattern: np.ndarray, word: np.ndarray, last: bool = False) -> np.ndarray:
    """Word-level pattern, float32 [..., U, U], of a token-level one [..., L, L] (query, key).

    With `last` only the last wordpiece of a word asks.
    """
    unit = units(word)
    member = np.zeros((len(unit), unit.max(initial=-1) + 1), dtype=np.float32)
    member[np.arange(len(unit)), unit] = 1
    if last:
        ends = len(unit) - 1 - member[::-1].argmax(axis=0)
        return pattern[..., ends, :].astype(np.float32) @ member
    mean = member / member.sum(axis=0)
    return mean.T @ (pattern.astype(np.float32) @ member)


@dataclass(frozen=True)
class WordAttention:
    """Attention of one example at word level; `words` are the indices of the words with tokens.

    `among` is attention among these words, float32 [..., word, word]; special tokens are left out,
    so rows do not sum to 1. `to_special` and `from_special` [..., word] are the largest weights
    that a word gives to a special token and gets from one; -1 where there is none.
    """

    words: np.ndarray
    among: np.ndarray
    to_special: np.ndarray
    from_special: np.ndarray


def word_attention(pattern: np.ndarray, word: np.ndarray, last: bool = False) -> WordAttention:
    """Word-level attention of a token-level pattern [..., L, L] (query, key).

    A word is missing if it vanished in tokenisation or was cut off. `last` as in `to_words`.
    """
    index, weights = words_of_units(word), to_words(pattern, word, last)
    kept, special = np.flatnonzero(index >= 0), np.flatnonzero(index < 0)
    return WordAttention(
        words=index[kept],
        among=weights[..., kept[:, None], kept],
        to_special=weights[..., kept[:, None], special].max(axis=-1, initial=-1),
        from_special=weights[..., special[:, None], kept].max(axis=-2, initial=-1),
    )


def split_words(word: np.ndarray) -> np.ndarray:
    """Whether each word has several wordpieces, bool [word], up to the last word with any."""
    return np.bincount(word[word >= 0]) > 1


def remedy(texts: Sequence[Annotated], tokens: Sequence[np.ndarray]) -> str:
    """Which words of `texts` have no token, and what to do: they are cut off, or vanish.

    Empty where all have one. `tokens` has the `word` of each text's tokens, int [L].
    """
    lacking = [
        f"{text.words[k]!r} ({text.source})"
        for text, word in zip(texts, tokens, strict=True)
        for k in sorted(set(range(len(text.words))) - set(word.tolist()))
    ]
    if not lacking:
        return ""
    return (
        f"{len(lacking)} words have no token, such as {lacking[0]}: raise max_tokens of the "
        "corpus, or remove words that the tokenizer leaves out"
    )


def is_decoder(card: dict[str, Any]) -> bool:
    """Whether no token of the model with this card attends to later ones."""
    return not card.get("bidirectional", True)


def uniform_attention(length: int) -> np.ndarray:
    """The pattern of a head that attends to all it can alike, float64 [1, 1, query, key].

    The query at position i, counted from 1, gives 1/i to each token up to itself.
    """
    seen = np.tril(np.ones((length, length)))
    return (seen / np.arange(1, length + 1)[:, None])[None, None]


def without_first(word: np.ndarray) -> np.ndarray:
    """The words of an example's tokens, int [L], where the first token's word is none: -1.

    Most heads rest on the first token, whatever it is: like [CLS], it is no candidate.
    """
    return np.where(word == word[0], -1, word)


def attention_to_earlier(pattern: np.ndarray, word: np.ndarray) -> WordAttention:
    """Attention of a decoder's words but the first, by the last wordpiece of each.

    `pattern` is [..., L, L] (query, key). What a word cannot choose, itself and those after it, has
    the weight -1. `to_special` is the largest weight on a token of the first word, or of none.
    """
    attention = word_attention(pattern, without_first(word), last=True)
    n_words = len(attention.words)
    earlier = np.tril(np.ones((n_words, n_words), dtype=bool), k=-1)
    attention.among[..., ~earlier] = -1
    return attention
