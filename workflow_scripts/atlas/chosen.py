"""The texts whose maps the atlas shows, for the maps and the norms alike.

Of running text, the segment of Clark et al.'s Figure 1 first, then short ones from all over the
corpus; a short sentence of the treebank and a short document of the coreference corpus; of each
task, examples sampled at random, the first of them the one of Kovaleva et al.'s maps.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns

# Shorter texts show little.
FEWEST_TOKENS = 16


@dataclass(frozen=True)
class Wanted:
    """How many texts are wanted: segments of running text, examples of each task.

    `first` is the id of the segment to begin with, or empty; an example of a task has at most
    `most_tokens` tokens, where there are such.
    """

    segments: int
    examples: int
    most_tokens: int
    seed: int
    first: str = ""


class Sources:
    """The pretrained model's caches by the name of their corpus or task, while they are open.

    `kinds` states what each is, in the order of the page: text (running text), annotated (sentences
    or documents) or task.
    """

    def __init__(self, kinds: Mapping[str, str], paths: Sequence[Path], card: dict) -> None:
        self.kinds = dict(kinds)
        self._stack = ExitStack()
        opened = zip(kinds, paths, strict=True)
        self.caches = {
            name: self._stack.enter_context(open_patterns(p, card)) for name, p in opened
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def chosen(self, wanted: Wanted) -> list[tuple[str, int]]:
        """The texts as (name, index), the most wanted first: one of each source, then the next."""
        lists = {name: self._of_one(name, wanted) for name in self.kinds}
        longest = max(map(len, lists.values()), default=0)
        ranks = range(longest)
        return [(name, found[r]) for r in ranks for name, found in lists.items() if r < len(found)]

    def _of_one(self, name: str, wanted: Wanted) -> list[int]:
        cache, kind = self.caches[name], self.kinds[name]
        if kind == "task":
            return sampled(cache.lengths, wanted.examples, wanted.most_tokens, wanted.seed)
        if kind == "annotated":
            return spread(cache.lengths, min(1, wanted.segments))
        begin = cache.ids.index(wanted.first) if wanted.first in cache.ids else None
        return spread(cache.lengths, wanted.segments, begin)


def identity(name: str, index: int) -> str:
    """The id of a text on the page."""
    return f"{name}-{index}"


def spread(lengths: np.ndarray, n: int, first: int | None = None) -> list[int]:
    """`n` short examples: `first`, then the shortest of each of as many equal stretches.

    Those of fewer than FEWEST_TOKENS are taken only where a stretch has no others; a corpus of
    fewer than `n` examples gives all.
    """
    found = [] if first is None or n == 0 else [first]
    for stretch in np.array_split(np.arange(len(lengths)), max(n - len(found), 1)):
        left = stretch[stretch != first]
        if len(found) < n and len(left):
            order = np.lexsort((left, lengths[left], lengths[left] < FEWEST_TOKENS))
            found.append(int(left[order[0]]))
    return found


def sampled(lengths: np.ndarray, n: int, most_tokens: int, seed: int) -> list[int]:
    """`n` random examples of at most `most_tokens` tokens; the shortest where there is none."""
    fitting = np.flatnonzero(lengths <= most_tokens)
    if not len(fitting):
        return [int(lengths.argmin())][:n]
    rng = np.random.default_rng(seed)
    found: list[int] = []
    while len(found) < min(n, len(fitting)):
        index = int(rng.choice(fitting))
        if index not in found:
            found.append(index)
    return found


def first_of_drawings(drawings: Path | None) -> str:
    """The id of the segment of Figure 1; empty where the study has none."""
    if drawings is None:
        return ""
    examples = tables.read(drawings, ("example",))["example"]
    return str(examples.iloc[0]) if len(examples) else ""
