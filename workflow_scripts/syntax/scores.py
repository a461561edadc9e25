"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core import job, tables
from workflow_scripts.core.cache import Cache
from workflow_scripts.core.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.job import Out
from workflow_scripts.core.trees import Tree, read_trees
from workflow_scripts.syntax import counting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counts:
    """What was counted in each sentence that was used.

    `found` is [sentence, direction, layer, head, relation], `offsets` [sentence, offset,
    relation] and `total` [sentence, relation].
    """

    relations: list[str]
    found: np.ndarray
    offsets: np.ndarray
    total: np.ndarray
    left_out: int


def count_corpus(
    cache: Cache, trees: list[Tree], largest_offset: int, released: bool = False
) -> Counts:
    """Count over all sentences; those with a word without tokens are left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations = counting.relations_of(trees)
    offsets = offset_range(largest_offset)
    found, at_offset, total = [], [], []
    for tree, example in job.progress(zip(trees, cache, strict=True), len(trees), "syntax"):
        attention = counting.word_pattern(example.pattern, example.word, len(tree.words))
        if attention is None:
            log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
            continue
        found.append(counting.count(attention, tree, relations, released).astype(np.uint16))
        at_offset.append(counting.count_offsets(tree, relations, offsets))
        total.append(counting.membership(tree, relations).sum(axis=0))
    if not found:
        raise InputError(f"{cache.path}: no sentence can be used; raise max_tokens")
    return Counts(
        relations,
        np.stack(found),
        np.stack(at_offset),
        np.stack(total),
        left_out=len(trees) - len(found),
    )


def offset_range(largest: int) -> list[int]:
    """-largest to largest without 0, the smallest first: of equals the nearest is best."""
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


def intervals(counts: Counts, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the 95% bootstrap intervals of all accuracies over sentences.

    Each is [direction, layer, head, relation]. Whole sentences are drawn with replacement.
    """
    n = len(counts.total)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float32)
    drawn_total = weights @ counts.total.astype(np.float32)
    ends = np.empty((2, *counts.found.shape[1:]))
    for k in range(len(counts.relations)):
        found = counts.found[..., k].reshape(n, -1).astype(np.float32)
        with np.errstate(invalid="ignore"):
            accuracy = weights @ found / drawn_total[:, k, None]
        known = np.isfinite(accuracy[:, 0])
        low_high = np.percentile(accuracy[known], [2.5, 97.5], axis=0)
        ends[..., k] = low_high.reshape(2, *counts.found.shape[1:-1])
    return ends[0], ends[1]


def held_out(counts: Counts, seed: int) -> pd.DataFrame:
    """The best head of each relation chosen on one half of the sentences, scored on the other."""
    order = np.random.default_rng(seed).permutation(len(counts.total))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    found = [counts.found[half].sum(axis=0, dtype=np.int64) for half in halves]
    total = [counts.total[half].sum(axis=0) for half in halves]
    rows = []
    for k, relation in enumerate(counts.relations):
        best = np.unravel_index(found[0][..., k].argmax(), found[0].shape[:-1])
        scored = total[1][k]
        rows.append(
            {
                "relation": relation,
                "held_out_direction": counting.DIRECTIONS[best[0]],
                "held_out_layer": best[1],
                "held_out_head": best[2],
                "held_out_accuracy": found[1][(*best, k)] / scored if scored else np.nan,
                "held_out_n": scored,
            }
        )
    return pd.DataFrame(rows)


def tidy(counts: Counts, low: np.ndarray, high: np.ndarray) -> pd.DataFrame:
    """One row per direction, head and relation."""
    found = counts.found.sum(axis=0, dtype=np.int64)
    total = counts.total.sum(axis=0)
    direction, layer, head, relation = np.indices(found.shape)
    return pd.DataFrame(
        {
            "direction": np.array(counting.DIRECTIONS)[direction.ravel()],
            "layer": layer.ravel(),
            "head": head.ravel(),
            "relation": np.array(counts.relations)[relation.ravel()],
            "accuracy": (found / total).ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "n": np.broadcast_to(total, found.shape).ravel(),
        }
    )


def baselines(counts: Counts, largest_offset: int) -> pd.DataFrame:
    """The accuracy of every fixed offset for every relation."""
    share = counts.offsets.sum(axis=0) / counts.total.sum(axis=0)
    offset, relation = np.indices(share.shape)
    return pd.DataFrame(
        {
            "relation": np.array(counts.relations)[relation.ravel()],
            "offset": np.array(offset_range(largest_offset))[offset.ravel()],
            "accuracy": share.ravel(),
        }
    )


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
    low, high = intervals(counts, bootstrap, seed)
    tables.write(tidy(counts, low, high), scores)
    tables.write(baselines(counts, largest_offset), offsets)
    tables.write(held_out(counts, seed), best)
    used = {"used": len(counts.total), "left out": counts.left_out}
    tables.write_csv(pd.DataFrame(used.items(), columns=["sentences", "n"]), sentences)


if __name__ == "__main__":
    job.run(main, globals())
