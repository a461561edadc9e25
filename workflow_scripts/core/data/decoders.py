"""What a decoder's tokens can attend to: themselves and those before them.

The first token has no choice: all of its attention is on itself. So it is no query of any measure
of a decoder, and uniform attention, from query 2 on, is the null of each of them.
"""

from typing import Any

import numpy as np

from workflow_scripts.core.data.wordpieces import WordAttention, word_attention

# How a drawing names tokens of no word: the one before a text, and blanks.
SPECIAL = ("(start)", "(blank)")


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
