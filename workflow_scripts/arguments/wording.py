"""The words of a warrant as the Penn Treebank splits them, and warrants with a cue changed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nltk.tokenize import TreebankWordTokenizer

_TOKENIZER = TreebankWordTokenizer()
Cue = tuple[str, ...]  # a unigram or a bigram, in lower case


@dataclass(frozen=True)
class Word:
    """A word in lower case, and its characters in the text."""

    form: str
    start: int
    end: int


@cache  # the same warrants come again in every set-up
def words(text: str) -> tuple[Word, ...]:
    """The words of a text: contractions are split ("do", "n't"), punctuation stands alone."""
    spans = _TOKENIZER.span_tokenize(text)
    return tuple(Word(text[start:end].lower(), start, end) for start, end in spans)


def forms(text: str, same: Mapping[str, str]) -> list[str]:
    """The words' forms; `same` says which count as another, such as n't as not."""
    return [same.get(word.form, word.form) for word in words(text)]


def grams(tokens: Sequence[str], sizes: Sequence[int]) -> set[Cue]:
    """The n-grams of the words, for each size n."""
    return {tuple(tokens[start : start + n]) for n in sizes for start in range(len(tokens) - n + 1)}


def without(text: str, cue: Cue, same: Mapping[str, str]) -> str:
    """The text without every occurrence of the cue; "don't" without n't is "do"."""
    found = words(text)
    return _keep(text, found, set(range(len(found))) - _places(found, cue, same))


def exchanged(text: str, other: str, cue: Cue, same: Mapping[str, str]) -> tuple[str, str]:
    """The text without the cue, and the other text with it before the same word's number."""
    found = words(text)
    place = min(_places(found, cue, same))
    target = words(other)
    at = target[place].start if place < len(target) else len(other)
    placed = f"{other[:at]} {' '.join(cue)} {other[at:]}"
    return without(text, cue, same), " ".join(placed.split())


def without_another(text: str, cue: Cue, same: Mapping[str, str], rng: random.Random) -> str:
    """The text without as many words as the cue has, drawn among the words that are not the cue.

    Where too few words are left besides the cue, all of these go.
    """
    found = words(text)
    places = _places(found, cue, same)
    others = [place for place in range(len(found)) if place not in places]
    dropped = rng.sample(others, min(len(places), len(others)))
    return _keep(text, found, set(range(len(found))) - set(dropped))


def _places(found: Sequence[Word], cue: Cue, same: Mapping[str, str]) -> set[int]:
    """The numbers of the words that belong to an occurrence of the cue."""
    tokens = [same.get(word.form, word.form) for word in found]
    n = len(cue)
    starts = [k for k in range(len(tokens) - n + 1) if tuple(tokens[k : k + n]) == cue]
    return {start + k for start in starts for k in range(n)}


def _keep(text: str, found: Sequence[Word], kept: set[int]) -> str:
    """The text without the characters of the words that are not kept."""
    pieces, end = [], 0
    for number, word in enumerate(found):
        pieces.append(text[end : word.start])
        if number in kept:
            pieces.append(text[word.start : word.end])
        end = word.end
    return " ".join("".join([*pieces, text[end:]]).split())
