"""Dependencies counted in a corpus, of encoders and decoders alike, and the accuracies of heads."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.data.trees import Tree
from workflow_scripts.core.stats import head_accuracy

log = logging.getLogger(__name__)
# What reads a sentence of a corpus, and what gives the counts of all that were read.
Counting = tuple[Callable[[CachedExample], None], Callable[[], Any]]


@dataclass(frozen=True)
class DependencyCounts:
    """Dependencies counted in the sentences that were used.

    `correct` and `with_special` (see `counting.DependencyHits`) are [unit, direction, layer, head,
    relation], `offsets` is [unit, offset, relation] and `total` [unit, relation]; a unit is a
    document. `tied` [direction, layer, head, relation], `n_documents` and `split` (words of several
    wordpieces) [relation] are of all units together. `sentences` states how many were used.
    """

    relations: list[str]
    directions: list[str]
    correct: np.ndarray
    with_special: np.ndarray
    total: np.ndarray
    tied: np.ndarray
    offsets: np.ndarray
    n_documents: np.ndarray
    split: np.ndarray
    sentences: dict[str, int]

    def select(self, relations: list[str], directions: list[int]) -> "DependencyCounts":
        """The counts of some relations in some directions."""
        chosen = [self.relations.index(relation) for relation in relations]
        of_relations = ("total", "offsets", "n_documents", "split")
        return replace(
            self,
            relations=relations,
            directions=[self.directions[direction] for direction in directions],
            correct=self.correct[:, directions][..., chosen],
            with_special=self.with_special[:, directions][..., chosen],
            tied=self.tied[directions][..., chosen],
            **{name: getattr(self, name)[..., chosen] for name in of_relations},
        )


def is_usable(sentence: CachedExample, tree: Tree) -> bool:
    """Whether each word of a sentence has a token; others are logged."""
    if len(np.unique(sentence.word[sentence.word >= 0])) == len(tree.words):
        return True
    if sentence.is_first:
        log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
    return False


def of_heads(counts: DependencyCounts, draws: int, seed: int, **others: np.ndarray) -> pd.DataFrame:
    """One row per direction, head and relation; columns of `others` [relation] stand last."""
    mean, low, high = head_accuracy.accuracy(counts.correct, counts.total, draws, seed)
    special = head_accuracy.accuracy(counts.with_special, counts.total, draws, seed)
    axes = {
        "direction": counts.directions,
        "layer": range(mean.shape[1]),
        "head": range(mean.shape[2]),
        "relation": counts.relations,
    }
    return tables.tidy(
        axes,
        accuracy=mean,
        ci_low=low,
        ci_high=high,
        n=counts.total.sum(axis=0),
        n_documents=counts.n_documents,
        split=counts.split,
        with_special=special[0],
        with_special_low=special[1],
        with_special_high=special[2],
        tied=counts.tied,
        **others,
    )


def held_out(counts: DependencyCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each relation chosen on one half of the documents, scored on the other.

    `held_out_gain` is over the best fixed offset, chosen on the same half; both ways.
    """
    rows = []
    best = head_accuracy.held_out(counts.correct, counts.total, seed)
    gains = head_accuracy.held_out_gains(counts.correct, counts.offsets, counts.total, draws, seed)
    for relation, ((direction, layer, head), accuracy, n), gain in zip(
        counts.relations, best, gains, strict=True
    ):
        rows.append(
            {
                "relation": relation,
                "held_out_direction": counts.directions[direction],
                "held_out_layer": layer,
                "held_out_head": head,
                "held_out_accuracy": accuracy,
                "held_out_n": n,
                "held_out_gain": gain.gain,
                "held_out_gain_low": gain.low,
                "held_out_gain_high": gain.high,
                "held_out_gain_p": gain.p,
            }
        )
    return pd.DataFrame(rows)
