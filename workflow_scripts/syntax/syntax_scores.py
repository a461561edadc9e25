"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.data.wordpieces import remedy, split_words, word_attention
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.syntax import counting

log = logging.getLogger(__name__)


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


def count_corpus(
    cache: Cache, trees: list[Tree], documents: list[str], largest_offset: int
) -> DependencyCounts:
    """Count over all sentences; a sentence with a word that has no token is left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations = [*counting.relations_of(trees), counting.ALL_RELEASED]
    units, codes = head_accuracy.units(documents), pd.factorize(np.array(documents, object))[0]
    # A unit of the smallest type that holds its words: treebanks can be large.
    n_words = np.bincount(units, [len(tree.words) for tree in trees]).astype(int)
    shape = (len(counting.DIRECTIONS), cache.n_layers, cache.n_heads, len(relations))
    correct = np.zeros((len(n_words), *shape), np.min_scalar_type(n_words.max()))
    with_special, tied = np.zeros_like(correct), np.zeros(shape, int)
    total = np.zeros((len(n_words), len(relations)), int)
    of_documents = np.zeros((codes.max() + 1, len(relations)), bool)
    offsets = np.zeros((len(n_words), 2 * largest_offset, len(relations)), correct.dtype)
    split, used = np.zeros(len(relations), int), 0
    sentences = zip(trees, cache, units, codes, strict=True)
    for tree, example, unit, code in job.progress(sentences, len(trees), "syntax"):
        attention = word_attention(example.pattern, example.word)
        if len(attention.words) < len(tree.words):
            log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
            continue
        member = counting.membership(tree, relations)
        found = counting.count(attention, tree, relations)
        correct[unit] += found.correct.astype(correct.dtype)
        with_special[unit] += found.with_special.astype(correct.dtype)
        tied += found.tied
        total[unit] += member.sum(axis=0)
        of_documents[code] |= member.any(axis=0)
        at_offsets = counting.count_offsets(tree, relations, offset_range(largest_offset))
        offsets[unit] += at_offsets.astype(correct.dtype)
        split += member[split_words(example.word)].sum(axis=0)
        used += 1
    if not used:
        why = remedy(trees, [cache.tokens(k)["word"] for k in range(len(cache))])
        raise InputError(f"{cache.path}: none of {len(trees)} sentences can be used; {why}")
    resampled = total.any(axis=1)
    return DependencyCounts(
        relations=relations,
        directions=list(counting.DIRECTIONS),
        correct=correct[resampled],
        with_special=with_special[resampled],
        total=total[resampled],
        tied=tied,
        offsets=offsets[resampled],
        n_documents=of_documents.sum(axis=0),
        split=split,
        sentences={"used": used, "left out": len(trees) - used},
    )


def offset_range(largest: int) -> list[int]:
    """1, -1, 2, -2 up to the largest: of equally good offsets, the nearest counts as best."""
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


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


def of_heads(counts: DependencyCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per direction, head and relation."""
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
    )


def of_offsets(counts: DependencyCounts, largest_offset: int) -> pd.DataFrame:
    """The accuracy of every fixed offset for every relation."""
    share = counts.offsets.sum(axis=0) / counts.total.sum(axis=0)
    axes = {"offset": offset_range(largest_offset), "relation": counts.relations}
    return tables.tidy(axes, accuracy=share)


def main(
    attention: Path,
    model: Path,
    trees: Path,
    corpus: Path,
    scores: Out,
    released: Out,
    offsets: Out,
    best: Out,
    sentences: Out,
    largest_offset: int,
    released_direction: bool,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write the accuracies of heads and offsets, the held-out best heads and sentence counts.

    `released` has each head's accuracy for all words by the released counting, in the released
    code's directions.
    """
    card = read_card(model)
    with Cache(attention, card) as cache:
        documents = cache.documents(corpus)
        counts = count_corpus(cache, read_trees(trees), documents, largest_offset)
    own = counts.select(counts.relations[:-1], [0, 1, 2] if released_direction else [0, 1])
    as_released = counts.select([counting.ALL_RELEASED], counting.RELEASED_DIRECTIONS)
    tables.write(of_heads(own, bootstrap, seed), scores)
    tables.write(of_heads(as_released, bootstrap, seed), released)
    tables.write(of_offsets(counts, largest_offset), offsets)
    parts = [held_out(part, bootstrap, seed) for part in (own, as_released)]
    tables.write(pd.concat(parts), best)
    tables.write_csv(pd.DataFrame(counts.sentences.items(), columns=["sentences", "n"]), sentences)


if __name__ == "__main__":
    job.run(main, globals())
