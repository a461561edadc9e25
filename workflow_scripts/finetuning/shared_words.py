"""Attention to words that both sentences of an input share (Kovaleva et al. 2019, section 5)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.stats.intervals import INDEPENDENT, per_head

MEASURES = ("copy", "shared")


def shared_spellings(words: Sequence[str], n_first: int) -> np.ndarray:
    """A number for each spelling that both texts have, -1 for all other words: int [word].

    The first `n_first` words are the first text's. Case is ignored; a word has a letter or a digit.
    """
    spellings = [word.casefold() for word in words]
    both = set(spellings[:n_first]) & set(spellings[n_first:])
    kept = sorted(word for word in both if any(letter.isalnum() for letter in word))
    numbers = {word: number for number, word in enumerate(kept)}
    return np.array([numbers.get(word, -1) for word in spellings], dtype=int)


def to_copies(
    pattern: np.ndarray, spelling: np.ndarray, segment: np.ndarray, ordinary: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Attention of shared words to their copies, and to the other words, of the other text.

    Both are weights per key token, means over the queries, float64 [layer, head], so that uniform
    attention gives the same twice; None where no shared word is left. `pattern` is [layer, head,
    query, key]; `spelling` numbers each token's shared spelling (else -1), `segment` its text, and
    `ordinary` (bool) marks tokens of words, each [L].
    """
    across = (segment[:, None] != segment) & ordinary & ordinary[:, None]
    same = (spelling[:, None] == spelling) & (spelling >= 0)
    copies, others = across & same, across & ~same
    queries = np.flatnonzero(copies.any(axis=1) & others.any(axis=1))
    if not len(queries):
        return None
    rows = pattern[:, :, queries].astype(np.float64)
    return tuple(
        ((rows * keys[queries]).sum(axis=-1) / keys[queries].sum(axis=-1)).mean(axis=-1)
        for keys in (copies, others)
    )


def to_shared(
    pattern: np.ndarray, spelling: np.ndarray, ordinary: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Attention of all tokens to shared words, and to other words: weights per key token.

    Shapes and arguments as in `to_copies`.
    """
    shared, others = ordinary & (spelling >= 0), ordinary & (spelling < 0)
    if not shared.any() or not others.any():
        return None
    received = pattern.mean(axis=-2, dtype=np.float64)
    return received[..., shared].mean(axis=-1), received[..., others].mean(axis=-1)


class SharedWords:
    """For each of MEASURES the attention of a cache's examples to shared and to other words.

    NaN for an example without two texts, or without a shared word or any other. `shape` is
    (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shared, self.others = (
            {measure: np.full(shape, np.nan) for measure in MEASURES} for _ in range(2)
        )

    def add(self, index: int, example: CachedExample, spelling_of_word: np.ndarray) -> None:
        """Measure example `index`; `spelling_of_word` is that of `shared_spellings`."""
        ordinary = example.word >= 0
        spelling = np.where(ordinary, spelling_of_word[example.word], -1)
        measured = {
            "copy": to_copies(example.pattern, spelling, example.segment, ordinary),
            "shared": to_shared(example.pattern, spelling, ordinary),
        }
        for measure, both in measured.items():
            if both is not None:
                self.shared[measure][index], self.others[measure][index] = both

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per measure and head: `excess` is `attention` minus `others`, with its interval."""
        excess = {measure: self.shared[measure] - self.others[measure] for measure in MEASURES}
        frame = per_head(excess, "measure", "excess", draws, seed, INDEPENDENT)
        for name, values in (("attention", self.shared), ("others", self.others)):
            frame[name] = per_head(values, "measure", name, draws, seed, INDEPENDENT)[name]
        return frame
