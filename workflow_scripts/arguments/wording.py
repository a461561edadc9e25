"""What a model reads of a point in each set-up (section 5), and warrants with a cue changed."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

# The texts before the warrant, in order. The paper writes BERT (W), BERT (R, W), BERT (C, W), and
# BERT alone for the full input.
SETUPS: dict[str, tuple[str, ...]] = {
    "full": ("claim", "reason"),
    "W": (),
    "RW": ("reason",),
    "CW": ("claim",),
}
TITLES = {"full": "C, R, W", "W": "W", "RW": "R, W", "CW": "C, W"}
FAMILIES = {"bert": "BERT", "bov": "BoV", "bilstm": "BiLSTM"}
# The cue is removed; moved to the other warrant; as many other words are removed (the control).
CHANGES = ("removed", "exchanged", "control")
WARRANTS = ("warrant0", "warrant1")
Cue = tuple[str, ...]  # a unigram or a bigram, in lower case


def as_text(texts: Sequence[str]) -> str:
    """The texts as one, each closed with a full stop, as in the released code."""
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts)


def inputs_of(frame: pd.DataFrame, setup: str) -> list[tuple[tuple[str, ...], str]]:
    """The argument and one warrant, both warrants of a point after one another."""
    return [
        (tuple(row[name] for name in SETUPS[setup]), row[warrant])
        for row in frame.to_dict("records")
        for warrant in WARRANTS
    ]


@dataclass(frozen=True)
class Word:
    """A word in lower case, and its characters in the text."""

    form: str
    start: int
    end: int


@cache
def _tokenizer() -> Any:
    """NLTK's, which is imported where words are split: it loads scikit-learn, for seconds."""
    from nltk.tokenize import TreebankWordTokenizer

    return TreebankWordTokenizer()


@cache  # the same warrants recur in every set-up
def words(text: str) -> tuple[Word, ...]:
    """The words of a text: contractions are split ("do", "n't"), punctuation stands alone."""
    spans = _tokenizer().span_tokenize(text)
    return tuple(Word(text[start:end].lower(), start, end) for start, end in spans)


def forms(text: str, same: Mapping[str, str]) -> list[str]:
    """The words' forms; `same` maps a word to the one it counts as, such as n't to not."""
    return [same.get(word.form, word.form) for word in words(text)]


def grams(tokens: Sequence[str], sizes: Sequence[int]) -> set[Cue]:
    """The n-grams of the words, for each size n."""
    return {tuple(tokens[start : start + n]) for n in sizes for start in range(len(tokens) - n + 1)}


def cue_in(points: pd.DataFrame, cue: Cue, same: Mapping[str, str]) -> np.ndarray:
    """Whether each warrant of each point contains the cue, bool [point, warrant]."""
    pairs = points[list(WARRANTS)].to_numpy()
    has = [cue in grams(forms(text, same), [len(cue)]) for text in pairs.ravel()]
    return np.array(has, dtype=bool).reshape(pairs.shape)


def side_of(has: np.ndarray) -> np.ndarray:
    """The warrant, 0 or 1, that alone contains a cue; -1 where neither or both do, int [point]."""
    return np.where(has.sum(axis=1) == 1, has.argmax(axis=1), -1)


def without(text: str, cue: Cue, same: Mapping[str, str]) -> str:
    """The text without every occurrence of the cue; "don't" without n't is "do"."""
    tokens = words(text)
    return _cut(text, tokens, _positions(tokens, cue, same))


def exchanged(text: str, opposite: str, cue: Cue, same: Mapping[str, str]) -> tuple[str, str]:
    """The text without the cue, and the opposite text with the cue at the same word position."""
    position = min(_positions(words(text), cue, same))
    target = words(opposite)
    start = target[position].start if position < len(target) else len(opposite)
    inserted = f"{opposite[:start]} {' '.join(cue)} {opposite[start:]}"
    return without(text, cue, same), " ".join(inserted.split())


def without_another(text: str, cue: Cue, same: Mapping[str, str], rng: random.Random) -> str:
    """The text without as many words as the cue has, sampled among those outside the cue."""
    tokens = words(text)
    cued = _positions(tokens, cue, same)
    uncued = [position for position in range(len(tokens)) if position not in cued]
    return _cut(text, tokens, rng.sample(uncued, min(len(cued), len(uncued))))


def _positions(tokens: Sequence[Word], cue: Cue, same: Mapping[str, str]) -> set[int]:
    """The positions of the words that belong to an occurrence of the cue."""
    mapped = [same.get(word.form, word.form) for word in tokens]
    n = len(cue)
    starts = [k for k in range(len(mapped) - n + 1) if tuple(mapped[k : k + n]) == cue]
    return {start + k for start in starts for k in range(n)}


def _cut(text: str, tokens: Sequence[Word], removed: Iterable[int]) -> str:
    """The text without the characters of the words at these positions."""
    pieces, end = [], 0
    for position in sorted(removed):
        pieces.append(text[end : tokens[position].start])
        end = tokens[position].end
    return " ".join("".join([*pieces, text[end:]]).split())
