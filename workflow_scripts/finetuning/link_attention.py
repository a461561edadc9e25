"""Attention between words of one sentence: verb and subject, pronoun and noun (Kovaleva, 4.5)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean, per_head

BACK = {"verb-subject": "subject-verb", "pronoun-noun": "noun-pronoun"}  # the reverse of each
LINKS = tuple(name for pair in BACK.items() for name in pair)
FAR = 2  # wordpieces; closer tokens are neighbours
DISTANCES = (False, True)  # all links, and those FAR or more apart
WordPairs = dict[str, list[tuple[int, int]]]


def link_attention(pattern: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Maximum attention from the chosen queries to the chosen keys (int arrays), [layer, head]."""
    return pattern[:, :, queries[:, None], keys].max(axis=(-2, -1)).astype(np.float64)


@dataclass(frozen=True)
class WordLink:
    """How far a link's tokens are apart, and attention along and against it, [layer, head]."""

    distance: int
    along: np.ndarray
    against: np.ndarray


def links_of(example: CachedExample, pairs: Iterable[tuple[int, int]]) -> list[WordLink]:
    """The links between pairs of words of one example; pairs with truncated words are left out."""
    links = []
    for first, second in pairs:
        a, b = np.flatnonzero(example.word == first), np.flatnonzero(example.word == second)
        if len(a) and len(b):
            distance = int(np.abs(a[:, None] - b).min())
            along = link_attention(example.pattern, a, b)
            links.append(WordLink(distance, along, link_attention(example.pattern, b, a)))
    return links


def neighbours(pattern: np.ndarray) -> np.ndarray:
    """Mean attention to the previous and next token together, [layer, head]."""
    length = pattern.shape[-1]
    before = np.diagonal(pattern, -1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    after = np.diagonal(pattern, 1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    return (before + after) / length


class LinkAttention:
    """Attention along links and to neighbours, of a cache's examples.

    An example's value is the mean over its links, NaN where it has none; under the key True, over
    those whose tokens are FAR or more apart. `shape` is (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.values = {far: {link: np.full(shape, np.nan) for link in LINKS} for far in DISTANCES}
        self.counts = {far: dict.fromkeys(LINKS, 0) for far in DISTANCES}
        self.neighbours = np.empty(shape)

    def add(self, index: int, example: CachedExample, pairs: WordPairs) -> None:
        """Measure example `index`, whose pairs of words are `pairs`, by the name of their link."""
        self.neighbours[index] = neighbours(example.pattern)
        for link, words in pairs.items():
            links = links_of(example, words)
            for far in DISTANCES:
                kept = [each for each in links if not far or each.distance >= FAR]
                for name in (link, BACK[link]):
                    self.counts[far][name] += len(kept)
                if kept:
                    along, against = [each.along for each in kept], [each.against for each in kept]
                    self.values[far][link][index] = np.mean(along, axis=0)
                    self.values[far][BACK[link]][index] = np.mean(against, axis=0)

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per distance, link and head, with the number of links and the neighbours' mean.

        neighbours_low and neighbours_high are the ends of its 95% interval over examples.
        """
        near, frames = bootstrap_mean(self.neighbours, draws, seed, INDEPENDENT), []
        names = ("neighbours", "neighbours_low", "neighbours_high")
        for far, by_link in self.values.items():
            frame = per_head(by_link, "link", "attention", draws, seed, INDEPENDENT)
            frame["links"] = frame["link"].map(self.counts[far])
            for name, values in zip(names, near, strict=True):
                frame[name] = np.tile(values.ravel(), len(LINKS))
            frames.append(frame.assign(far=far))
        return pd.concat(frames, ignore_index=True)
