"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Tree, read_trees
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.wordpieces import (
    attention_to_earlier,
    is_decoder,
    remedy,
    split_words,
    word_attention,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Measure, Units, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.syntax import counting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DependencyCounts:
    """Dependencies counted in the sentences that were used, in directions with the same words.

    `correct` and `with_special` (see `counting.DependencyHits`) are [unit, direction, layer, head,
    relation], `offsets` is [unit, offset, relation] and `total` [unit, relation]; a unit is a
    document. `tied` [direction, layer, head, relation], `n_documents` and `split` (words of several
    wordpieces) [relation] are of all units together. `of_decoder` are a decoder's further columns
    [relation]: `uniform`, right by chance, and `coverage`, the share of all dependencies.
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
    of_decoder: dict[str, np.ndarray]

    def select(self, directions: slice, relations: slice) -> "DependencyCounts":
        """The counts of some directions and relations."""
        of_both = ("correct", "with_special", "tied")
        of_relations = ("total", "offsets", "n_documents", "split")
        return replace(
            self,
            relations=self.relations[relations],
            directions=self.directions[directions],
            **{name: getattr(self, name)[..., directions, :, :, relations] for name in of_both},
            **{name: getattr(self, name)[..., relations] for name in of_relations},
        )


def count_corpus(
    cache: Patterns, trees: list[Tree], documents: list[str], offsets: list[int], decoder: bool
) -> tuple[Callable[[CachedExample], None], Callable[[], list[DependencyCounts]]]:
    """What reads a sentence, and what gives the counts.

    The counts of an encoder's directions are together; a decoder's have different words, and are
    apart. A sentence with a word that has no token is left out.
    """
    cache.expect([tree.id for tree in trees], "the treebank")
    relations = counting.relations_of(trees) + ([] if decoder else [counting.ALL_RELEASED])
    directions = counting.DIRECTIONS_BACK if decoder else counting.DIRECTIONS
    parts = [slice(0, 1), slice(1, 2)] if decoder else [slice(None)]  # of the directions
    units = tables.document_units(documents)
    codes = pd.factorize(np.array(documents, object))[0]
    # A unit of the smallest type that holds its words: treebanks can be large.
    n_words = np.bincount(units, [len(tree.words) for tree in trees]).astype(int)
    shape = (len(directions), cache.n_layers, cache.n_heads, len(relations))
    correct = np.zeros((len(n_words), *shape), np.min_scalar_type(n_words.max()))
    with_special, tied = np.zeros_like(correct), np.zeros(shape, int)
    n = (len(parts), len(relations))
    total, of_documents = np.zeros((len(n_words), *n), int), np.zeros((codes.max() + 1, *n), bool)
    at_offsets = np.zeros((len(n_words), len(parts), len(offsets), len(relations)), correct.dtype)
    split = np.zeros(n, int)
    chance = np.zeros((len(trees), *n))  # of each sentence, to be summed in their order

    def update(example: CachedExample) -> None:
        nonlocal split
        tree, layers, unit = trees[example.index], example.layers, units[example.index]
        if len(np.unique(example.word[example.word >= 0])) < len(tree.words):
            if example.is_first:
                log.info("%s: left out, a word has no token or is cut off", tree.source)
            return
        if decoder:
            asked = counting.questions(tree, int(example.word[0]))
            attention = attention_to_earlier(example.pattern, example.word)
            found = counting.hits_back(attention, tree, asked)
        else:
            words = np.arange(len(tree.words))[None]  # each, roots too, is the one question
            none = np.zeros(words.shape)
            asked = counting.Questions(words, np.array([tree.heads]), words >= 0, none)
            found = counting.hits(word_attention(example.pattern, example.word), tree)
        member = counting.membership(tree, relations)
        found = counting.by_relation(found, member)
        correct[unit, :, layers] += found.correct.astype(correct.dtype)
        with_special[unit, :, layers] += found.with_special.astype(correct.dtype)
        tied[:, layers] += found.tied
        if not example.is_first:
            return
        member = member.astype(int)
        n_asked = asked.counted.astype(int) @ member
        total[unit] += n_asked
        of_documents[codes[example.index]] |= n_asked > 0
        if decoder:
            at = [asked.counted & (asked.asker + offset == asked.answer) for offset in offsets]
            hits = np.stack(at, axis=1).astype(int) @ member
        else:
            hits = counting.count_offsets(tree, relations, offsets)
        at_offsets[unit] += hits.astype(correct.dtype)
        chance[example.index] = np.nan_to_num(asked.chance) @ member
        pieces = split_words(example.word)[asked.asker] & asked.counted
        split += pieces.astype(int) @ member

    def counts() -> list[DependencyCounts]:
        if not total.any():
            why = remedy(trees, [cache.tokens(k)["word"] for k in range(len(cache))])
            raise InputError(f"{cache.path}: none of {len(trees)} sentences can be used; {why}")
        kept = slice(None) if decoder else total.any(axis=(1, 2))
        of_all = sum(counting.membership(tree, relations).sum(axis=0) for tree in trees)
        asked = total.sum(axis=0)
        with np.errstate(invalid="ignore"):
            of_decoder = {"uniform": chance.sum(axis=0) / asked, "coverage": asked / of_all}
        return [
            DependencyCounts(
                relations,
                list(directions[part]),
                correct=correct[kept, part],
                with_special=with_special[kept, part],
                total=total[kept, k],
                tied=tied[part],
                offsets=at_offsets[kept, k],
                n_documents=of_documents[:, k].sum(axis=0),
                split=split[k],
                of_decoder={name: of[k] for name, of in of_decoder.items()} if decoder else {},
            )
            for k, part in enumerate(parts)
        ]

    return update, counts


def head_accuracies(counts: DependencyCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per direction, head and relation."""
    mean, low, high = stats_bootstrap.bootstrap_accuracy(counts.correct, counts.total, draws, seed)
    special = stats_bootstrap.bootstrap_accuracy(counts.with_special, counts.total, draws, seed)
    axes = {
        "direction": counts.directions,
        "layer": range(mean.shape[1]),
        "head": range(mean.shape[2]),
        "relation": counts.relations,
    }
    columns = {"accuracy": mean, "ci_low": low, "ci_high": high, "n": counts.total.sum(axis=0)}
    columns |= {"n_documents": counts.n_documents, "split": counts.split}
    if counts.of_decoder:
        columns["tied"] = counts.tied  # stands here
    names = ("with_special", "with_special_low", "with_special_high")
    columns |= dict(zip(names, special, strict=True)) | {"tied": counts.tied} | counts.of_decoder
    return tables.tidy(axes, **columns)


def held_out(counts: DependencyCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each relation chosen on one half of the documents, scored on the other.

    `held_out_gain` is over the best fixed offset, chosen on the same half; both ways.
    """
    best = stats_bootstrap.held_out(counts.correct, counts.total, seed)
    gains = stats_bootstrap.held_out_gains(
        counts.correct, counts.offsets, counts.total, draws, seed
    )
    rows = [
        (relation, counts.directions[direction], *head, accuracy, n, *gain)
        for relation, ((direction, *head), accuracy, n), gain in zip(
            counts.relations, best, gains, strict=True
        )
    ]
    held = "direction layer head accuracy n gain gain_low gain_high gain_p".split()
    return pd.DataFrame(rows, columns=["relation", *(f"held_out_{name}" for name in held)])


def offset_accuracies(counts: DependencyCounts, offsets: list[int]) -> pd.DataFrame:
    """The accuracy of every fixed offset for every relation, for a decoder also every direction."""
    with np.errstate(invalid="ignore"):
        share = counts.offsets.sum(axis=0) / counts.total.sum(axis=0)
    axes = {"offset": offsets, "relation": counts.relations}
    if not counts.of_decoder:
        return tables.tidy(axes, accuracy=share)
    axes = {"direction": counts.directions} | axes
    return tables.tidy(axes, accuracy=share, coverage=counts.of_decoder["coverage"])


@in_one_pass
def main(
    attention: Path,
    model: Path,
    trees: Path,
    corpus: Path,
    scores: job.Out,
    released: job.Out,
    offsets: job.Out,
    best: job.Out,
    largest_offset: int,
    released_direction: bool,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write the accuracies of heads and offsets, and the held-out best heads.

    `released` has each head's accuracy for all words by the released counting, in the released
    code's directions; of a decoder it is empty, as the directions have different words.
    """
    card = read_card(model)
    decoder = is_decoder(card)
    patterns = open_patterns(attention, card)
    documents, signs = patterns.documents(corpus), (-1,) if decoder else (1, -1)
    # The nearest first: of equals, the first is the best.
    ranges = [sign * size for size in range(1, largest_offset + 1) for sign in signs]
    update, counted = count_corpus(patterns, read_trees(trees), documents, ranges, decoder)

    def scored(parts: list[DependencyCounts]) -> list[DependencyCounts]:
        chosen = slice(2 + released_direction), slice(-1)
        return parts if decoder else [part.select(*chosen) for part in parts]

    def units() -> Units:
        return {
            f"{relation}.{direction}": (part.correct[:, row, ..., column], part.total[:, column])
            for part in scored(counted())
            for row, direction in enumerate(part.directions)
            for column, relation in enumerate(part.relations)
        }

    def write() -> None:
        parts = counted()
        tables.write(pd.concat([offset_accuracies(part, ranges) for part in parts]), offsets)
        as_released = []
        if not decoder:
            released_words = counting.RELEASED_DIRECTIONS, slice(-1, None)
            as_released = [part.select(*released_words) for part in parts]
        parts = scored(parts)
        frames = [head_accuracies(part, bootstrap, seed) for part in parts + as_released]
        tables.write(pd.concat(frames[: len(parts)]), scores)
        tables.write(pd.concat(frames[len(parts) :] or [frames[0].iloc[:0]]), released)
        held = [held_out(part, bootstrap, seed) for part in parts + as_released]
        tables.write(pd.concat(held), best)

    return Measure(patterns, update, write, units=units)


if __name__ == "__main__":
    job.run(main, globals())
