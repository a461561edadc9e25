"""Every head against every relation, in both directions (Clark et al. 2019, section 4.2)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.syntax import counting
from workflow_scripts.syntax.counting import DIRECTIONS_BACK

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


def head_accuracies(
    counts: DependencyCounts, draws: int, seed: int, **others: np.ndarray
) -> pd.DataFrame:
    """One row per direction, head and relation; columns of `others` [relation] stand last."""
    mean, low, high = stats_bootstrap.bootstrap_accuracy(counts.correct, counts.total, draws, seed)
    special = stats_bootstrap.bootstrap_accuracy(counts.with_special, counts.total, draws, seed)
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
    best = stats_bootstrap.held_out(counts.correct, counts.total, seed)
    gains = stats_bootstrap.held_out_gains(
        counts.correct, counts.offsets, counts.total, draws, seed
    )
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


@dataclass(frozen=True)
class QuestionCounts:
    """Questions counted, in `parts` of each direction, as these have different words.

    `split` is of askers. `chance` [direction, relation] is a sum over questions, `of_all`
    [relation] are all dependencies of the treebank. `sentences` states how many were used.
    """

    parts: list[DependencyCounts]
    chance: np.ndarray
    of_all: np.ndarray
    sentences: dict[str, int]


def offsets_back(largest: int) -> list[int]:
    """-1, -2 up to the largest: of equally good offsets, the nearest counts as best."""
    return [-size for size in range(1, largest + 1)]


def count_decoder_corpus(
    cache: Patterns, trees: list[Tree], documents: list[str], largest_offset: int
) -> Counting:
    """Counting over all sentences; a sentence with a word that has no token is left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations, offsets = counting.relations_of(trees), offsets_back(largest_offset)
    units, codes = (
        stats_bootstrap.document_units(documents),
        pd.factorize(np.array(documents, object))[0],
    )
    n_units, n = units.max() + 1, (len(DIRECTIONS_BACK), len(relations))
    shape = (len(DIRECTIONS_BACK), cache.n_layers, cache.n_heads, len(relations))
    correct = np.zeros((n_units, *shape), np.int32)
    with_special, tied = np.zeros_like(correct), np.zeros(shape, int)
    total = np.zeros((n_units, *n), int)
    at_offsets = np.zeros((n_units, len(DIRECTIONS_BACK), len(offsets), len(relations)), int)
    of_documents = np.zeros((codes.max() + 1, *n), bool)
    split, used = np.zeros(n, int), 0
    chance = np.zeros((len(trees), *n))  # of each sentence, to be summed in their order
    members = [counting.membership(tree, relations).astype(int) for tree in trees]

    def update(example: CachedExample) -> None:
        nonlocal split, used
        if not is_usable(example, trees[example.index]):
            return
        tree, member, unit = trees[example.index], members[example.index], units[example.index]
        asked = counting.questions(tree, int(example.word[0]))
        attention = attention_to_earlier(example.pattern, example.word)
        found = counting.hits_back(attention, tree, asked)
        right, among_all, even = (kind.astype(np.float32) @ member for kind in found)
        correct[unit, :, example.layers] += right.astype(np.int32)
        with_special[unit, :, example.layers] += among_all.astype(np.int32)
        tied[:, example.layers] += even.astype(int)
        if not example.is_first:
            return
        n_asked = asked.counted.astype(int) @ member
        total[unit] += n_asked
        of_documents[codes[example.index]] |= n_asked > 0
        at_offsets[unit] += counting.count_offsets_back(asked, member, offsets)
        chance[example.index] = np.nan_to_num(asked.chance) @ member
        pieces = split_words(example.word)[asked.asker] & asked.counted
        split += pieces.astype(int) @ member
        used += 1

    def counts() -> QuestionCounts:
        if not total.any():
            why = remedy(trees, [cache.tokens(k)["word"] for k in range(len(cache))])
            raise InputError(
                f"{cache.path}: none of {len(trees)} sentences has a dependency to the left; {why}"
            )
        sentences = {"used": used, "left out": len(trees) - used}
        parts = [
            DependencyCounts(
                relations=relations,
                directions=[direction],
                correct=correct[:, [k]],
                with_special=with_special[:, [k]],
                total=total[:, k],
                tied=tied[[k]],
                offsets=at_offsets[:, k],
                n_documents=of_documents[:, k].sum(axis=0),
                split=split[k],
                sentences=sentences,
            )
            for k, direction in enumerate(DIRECTIONS_BACK)
        ]
        of_all = np.sum([member.sum(axis=0) for member in members], axis=0)
        return QuestionCounts(parts, chance.sum(axis=0), of_all, sentences)

    return update, counts


def decoder_accuracies(counts: QuestionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per direction, head and relation; `uniform` is right by chance, without attention."""
    frames = []
    for part, chance in zip(counts.parts, counts.chance, strict=True):
        n = part.total.sum(axis=0)
        with np.errstate(invalid="ignore"):
            of_decoder = {"uniform": chance / n, "coverage": n / counts.of_all}
        frames.append(head_accuracies(part, draws, seed, **of_decoder))
    frame = pd.concat(frames, ignore_index=True)
    # Of decoders the column stands here.
    frame.insert(frame.columns.get_loc("split") + 1, "tied", frame.pop("tied"))
    return frame


def decoder_offsets(counts: QuestionCounts) -> pd.DataFrame:
    """The accuracy of every negative offset for every direction and relation."""
    frames = []
    for part in counts.parts:
        n, offsets = part.total.sum(axis=0), offsets_back(part.offsets.shape[1])
        with np.errstate(invalid="ignore"):
            share, coverage = part.offsets.sum(axis=0) / n, n / counts.of_all
        axes = {"direction": part.directions, "offset": offsets, "relation": part.relations}
        frames.append(tables.tidy(axes, accuracy=share, coverage=coverage))
    return pd.concat(frames, ignore_index=True)


def decoder_held_out(counts: QuestionCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each direction and relation on one half of the documents, on the other.

    `held_out_gain` is over the best negative offset of the same questions, chosen on the same half.
    """
    frames = [held_out(part, draws, seed) for part in counts.parts]
    return pd.concat(frames, ignore_index=True)


def count_corpus(
    cache: Patterns, trees: list[Tree], documents: list[str], largest_offset: int
) -> Counting:
    """Counting over all sentences; a sentence with a word that has no token is left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations = [*counting.relations_of(trees), counting.ALL_RELEASED]
    units, codes = (
        stats_bootstrap.document_units(documents),
        pd.factorize(np.array(documents, object))[0],
    )
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


def offset_accuracies(counts: DependencyCounts, largest_offset: int) -> pd.DataFrame:
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
    count = count_decoder_corpus if decoder else count_corpus
    patterns = open_patterns(attention, card)
    update, counted = count(patterns, read_trees(trees), patterns.documents(corpus), largest_offset)

    def write() -> None:
        counts = counted()
        tables.write_csv(
            pd.DataFrame(counts.sentences.items(), columns=["sentences", "n"]), sentences
        )
        if decoder:
            frame = decoder_accuracies(counts, bootstrap, seed)
            tables.write(frame, scores)
            tables.write(frame.iloc[:0], released)
            tables.write(decoder_offsets(counts), offsets)
            tables.write(decoder_held_out(counts, bootstrap, seed), best)
            return
        own = counts.select(counts.relations[:-1], [0, 1, 2] if released_direction else [0, 1])
        as_released = counts.select([counting.ALL_RELEASED], counting.RELEASED_DIRECTIONS)
        tables.write(head_accuracies(own, bootstrap, seed), scores)
        tables.write(head_accuracies(as_released, bootstrap, seed), released)
        tables.write(offset_accuracies(counts, largest_offset), offsets)
        parts = [held_out(part, bootstrap, seed) for part in (own, as_released)]
        tables.write(pd.concat(parts), best)

    return Measure(patterns, update, write)


if __name__ == "__main__":
    job.run(main, globals())
