"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.decoders import is_decoder
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.data.wordpieces import remedy, split_words, word_attention
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.syntax import counting, decoder_scores
from workflow_scripts.syntax.corpus_counts import (
    Counting,
    DependencyCounts,
    held_out,
    is_usable,
    of_heads,
)


def count_corpus(
    cache: Patterns, trees: list[Tree], documents: list[str], largest_offset: int
) -> Counting:
    """Counting over all sentences; a sentence with a word that has no token is left out."""
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

    def update(example: CachedExample) -> None:
        nonlocal split, used
        tree, layers = trees[example.index], example.layers
        if not is_usable(example, tree):
            return
        unit, code = units[example.index], codes[example.index]
        attention = word_attention(example.pattern, example.word)
        found = counting.count(attention, tree, relations)
        correct[unit, :, layers] += found.correct.astype(correct.dtype)
        with_special[unit, :, layers] += found.with_special.astype(correct.dtype)
        tied[:, layers] += found.tied
        if not example.is_first:
            return
        member = counting.membership(tree, relations)
        total[unit] += member.sum(axis=0)
        of_documents[code] |= member.any(axis=0)
        at_offsets = counting.count_offsets(tree, relations, offset_range(largest_offset))
        offsets[unit] += at_offsets.astype(correct.dtype)
        split += member[split_words(example.word)].sum(axis=0)
        used += 1

    def counts() -> DependencyCounts:
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

    return update, counts


def offset_range(largest: int) -> list[int]:
    """1, -1, 2, -2 up to the largest: of equally good offsets, the nearest counts as best."""
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


def of_offsets(counts: DependencyCounts, largest_offset: int) -> pd.DataFrame:
    """The accuracy of every fixed offset for every relation."""
    share = counts.offsets.sum(axis=0) / counts.total.sum(axis=0)
    axes = {"offset": offset_range(largest_offset), "relation": counts.relations}
    return tables.tidy(axes, accuracy=share)


@in_one_pass
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
) -> Measure:
    """Write the accuracies of heads and offsets, the held-out best heads and sentence counts.

    `released` has each head's accuracy for all words by the released counting, in the released
    code's directions; of a decoder it is empty, as the directions have different words.
    """
    card = read_card(model)
    decoder = is_decoder(card)
    count = decoder_scores.count_corpus if decoder else count_corpus
    patterns = open_patterns(attention, card)
    update, counted = count(patterns, read_trees(trees), patterns.documents(corpus), largest_offset)

    def write() -> None:
        counts = counted()
        tables.write_csv(
            pd.DataFrame(counts.sentences.items(), columns=["sentences", "n"]), sentences
        )
        if decoder:
            frame = decoder_scores.of_heads(counts, bootstrap, seed)
            tables.write(frame, scores)
            tables.write(frame.iloc[:0], released)
            tables.write(decoder_scores.of_offsets(counts), offsets)
            tables.write(decoder_scores.held_out(counts, bootstrap, seed), best)
            return
        own = counts.select(counts.relations[:-1], [0, 1, 2] if released_direction else [0, 1])
        as_released = counts.select([counting.ALL_RELEASED], counting.RELEASED_DIRECTIONS)
        tables.write(of_heads(own, bootstrap, seed), scores)
        tables.write(of_heads(as_released, bootstrap, seed), released)
        tables.write(of_offsets(counts, largest_offset), offsets)
        parts = [held_out(part, bootstrap, seed) for part in (own, as_released)]
        tables.write(pd.concat(parts), best)

    return Measure(patterns, update, write)


if __name__ == "__main__":
    job.run(main, globals())
