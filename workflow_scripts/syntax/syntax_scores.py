"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.syntax import counting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counts:
    """Dependencies counted in each sentence that was used.

    `correct` is [sentence, direction, layer, head, relation], `offsets` [sentence, offset,
    relation] and `total` [sentence, relation]; `left_out` counts sentences.
    """

    relations: list[str]
    correct: np.ndarray
    offsets: np.ndarray
    total: np.ndarray
    left_out: int


def count_corpus(
    cache: Cache, trees: list[Tree], largest_offset: int, released: bool = False
) -> Counts:
    """Count over all sentences; a sentence with a word that has no token is left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations = counting.relations_of(trees)
    offsets = offset_range(largest_offset)
    correct, at_offset, total = [], [], []
    for tree, example in job.progress(zip(trees, cache, strict=True), len(trees), "syntax"):
        attention = counting.word_pattern(example.pattern, example.word, len(tree.words))
        if attention is None:
            log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
            continue
        correct.append(counting.count(attention, tree, relations, released).astype(np.uint16))
        at_offset.append(counting.count_offsets(tree, relations, offsets))
        total.append(counting.membership(tree, relations).sum(axis=0))
    if not correct:
        raise InputError(f"{cache.path}: no sentence can be used; raise max_tokens")
    return Counts(
        relations,
        correct=np.stack(correct),
        offsets=np.stack(at_offset),
        total=np.stack(total),
        left_out=len(trees) - len(correct),
    )


def offset_range(largest: int) -> list[int]:
    """1, -1, 2, -2 up to the largest: of equally good offsets, the nearest counts as best."""
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


def held_out(counts: Counts, seed: int) -> pd.DataFrame:
    """The best head of each relation chosen on one half of the sentences, scored on the other."""
    rows = []
    best = head_accuracy.held_out(counts.correct, counts.total, seed)
    for relation, ((direction, layer, head), accuracy, n) in zip(
        counts.relations, best, strict=True
    ):
        rows.append(
            {
                "relation": relation,
                "held_out_direction": counting.DIRECTIONS[direction],
                "held_out_layer": layer,
                "held_out_head": head,
                "held_out_accuracy": accuracy,
                "held_out_n": n,
            }
        )
    return pd.DataFrame(rows)


def of_heads(counts: Counts, draws: int, seed: int) -> pd.DataFrame:
    """One row per direction, head and relation."""
    mean, low, high = head_accuracy.accuracy(counts.correct, counts.total, draws, seed)
    n_directions, n_layers, n_heads, _ = mean.shape
    return tables.tidy(
        {
            "direction": counting.DIRECTIONS[:n_directions],
            "layer": range(n_layers),
            "head": range(n_heads),
            "relation": counts.relations,
        },
        accuracy=mean,
        ci_low=low,
        ci_high=high,
        n=counts.total.sum(axis=0),
    )


def of_offsets(counts: Counts, largest_offset: int) -> pd.DataFrame:
    """The accuracy of every fixed offset for every relation."""
    share = counts.offsets.sum(axis=0) / counts.total.sum(axis=0)
    axes = {"offset": offset_range(largest_offset), "relation": counts.relations}
    return tables.tidy(axes, accuracy=share)


def main(
    attention: Path,
    model: Path,
    trees: Path,
    scores: Out,
    offsets: Out,
    best: Out,
    sentences: Out,
    largest_offset: int,
    released_direction: bool,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write the accuracies of heads and offsets, the held-out best heads and sentence counts."""
    card = read_card(model)
    with Cache(attention, card) as cache:
        counts = count_corpus(cache, read_trees(trees), largest_offset, released_direction)
    tables.write(of_heads(counts, bootstrap, seed), scores)
    tables.write(of_offsets(counts, largest_offset), offsets)
    tables.write(held_out(counts, seed), best)
    used = {"used": len(counts.total), "left out": counts.left_out}
    tables.write_csv(pd.DataFrame(used.items(), columns=["sentences", "n"]), sentences)


if __name__ == "__main__":
    job.run(main, globals())
