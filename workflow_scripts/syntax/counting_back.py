"""Dependencies that a decoder's head finds: those whose target stands to the left of the asker.

A word sees no later word, so a dependency is asked in one direction alone: by the dependent, where
its head word stands to its left, or else by the head word. The last wordpiece asks. The first word,
on which most heads rest, is no candidate, like [CLS]: dependencies with it as the target are left
out. `coverage` is the share of all dependencies of a relation that are counted in a direction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.trees import ROOT, Tree
from workflow_scripts.core.data.wordpieces import WordAttention
from workflow_scripts.syntax import counting
from workflow_scripts.syntax.counting import DependencyHits

DIRECTIONS = counting.DIRECTIONS[:2]


class Questions(NamedTuple):
    """Each dependency as a question, [direction, word]: who asks, for whom, whether it is counted.

    `chance` is the share of right answers if any candidate may be chosen; NaN if it is not counted.
    """

    asker: np.ndarray
    answer: np.ndarray
    counted: np.ndarray
    chance: np.ndarray


def questions(tree: Tree, first: int) -> Questions:
    """The questions of a sentence whose first token is of the word `first`; -1: a start token."""
    heads, dependents = np.array(tree.heads), counting.stand_ins(tree)
    asker, answer = np.stack([dependents, heads]), np.stack([heads, dependents])
    counted = (heads != ROOT) & (answer < asker) & (answer != first)
    candidates = np.where(counted, asker - (first >= 0), 1)
    return Questions(asker, answer, counted, np.where(counted, 1 / candidates, np.nan))


def hits_back(attention: WordAttention, tree: Tree, asked: Questions) -> DependencyHits:
    """Whether each counted dependency is found, bool [direction, layer, head, word].

    `attention` is that of `attention_to_earlier`, which has all words of the tree but the first.
    """
    shape = (*attention.among.shape[:2], len(tree.words))
    weights = np.full((*shape, len(tree.words)), -1, np.float32)
    weights[..., attention.words[:, None], attention.words] = attention.among
    special = np.full(shape, -1, np.float32)
    special[..., attention.words] = attention.to_special
    largest = counting.Largest.of(weights)
    found = [
        counting.found(largest, asker, answer, weights[..., asker, answer], special)
        for asker, answer in zip(asked.asker, asked.answer, strict=True)
    ]
    counted = asked.counted[:, None, None]
    return DependencyHits(*(np.stack(kind) & counted for kind in zip(*found, strict=True)))


def count_offsets(asked: Questions, member: np.ndarray, offsets: Sequence[int]) -> np.ndarray:
    """Counted dependencies whose target lies at a fixed offset of the asker.

    int [direction, offset, relation]; `member` is `counting.membership`.
    """
    at = [asked.counted & (asked.asker + offset == asked.answer) for offset in offsets]
    return np.stack(at, axis=1).astype(int) @ member.astype(int)
