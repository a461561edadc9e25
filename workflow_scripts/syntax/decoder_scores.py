"""The counts of dependencies of a decoder, and its tables: each direction apart, with coverage."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.decoders import attention_to_earlier
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.trees import Tree
from workflow_scripts.core.data.wordpieces import remedy, split_words
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.syntax import corpus_counts, counting, counting_back
from workflow_scripts.syntax.corpus_counts import Counting, DependencyCounts
from workflow_scripts.syntax.counting_back import DIRECTIONS


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


def offset_range(largest: int) -> list[int]:
    """-1, -2 up to the largest: of equally good offsets, the nearest counts as best."""
    return [-size for size in range(1, largest + 1)]


def count_corpus(
    cache: Patterns, trees: list[Tree], documents: list[str], largest_offset: int
) -> Counting:
    """Counting over all sentences; a sentence with a word that has no token is left out."""
    cache.expect([tree.id for tree in trees], "the treebank")
    relations, offsets = counting.relations_of(trees), offset_range(largest_offset)
    units, codes = head_accuracy.units(documents), pd.factorize(np.array(documents, object))[0]
    n_units, n = units.max() + 1, (len(DIRECTIONS), len(relations))
    shape = (len(DIRECTIONS), cache.n_layers, cache.n_heads, len(relations))
    correct = np.zeros((n_units, *shape), np.int32)
    with_special, tied = np.zeros_like(correct), np.zeros(shape, int)
    total = np.zeros((n_units, *n), int)
    at_offsets = np.zeros((n_units, len(DIRECTIONS), len(offsets), len(relations)), int)
    of_documents = np.zeros((codes.max() + 1, *n), bool)
    split, used = np.zeros(n, int), 0
    chance = np.zeros((len(trees), *n))  # of each sentence, to be summed in their order
    members = [counting.membership(tree, relations).astype(int) for tree in trees]

    def update(example: CachedExample) -> None:
        nonlocal split, used
        if not corpus_counts.is_usable(example, trees[example.index]):
            return
        tree, member, unit = trees[example.index], members[example.index], units[example.index]
        asked = counting_back.questions(tree, int(example.word[0]))
        attention = attention_to_earlier(example.pattern, example.word)
        found = counting_back.hits_back(attention, tree, asked)
        right, among_all, even = (kind.astype(np.float32) @ member for kind in found)
        correct[unit, :, example.layers] += right.astype(np.int32)
        with_special[unit, :, example.layers] += among_all.astype(np.int32)
        tied[:, example.layers] += even.astype(int)
        if not example.is_first:
            return
        n_asked = asked.counted.astype(int) @ member
        total[unit] += n_asked
        of_documents[codes[example.index]] |= n_asked > 0
        at_offsets[unit] += counting_back.count_offsets(asked, member, offsets)
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
            for k, direction in enumerate(DIRECTIONS)
        ]
        of_all = np.sum([member.sum(axis=0) for member in members], axis=0)
        return QuestionCounts(parts, chance.sum(axis=0), of_all, sentences)

    return update, counts


def of_heads(counts: QuestionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per direction, head and relation; `uniform` is right by chance, without attention."""
    frames = []
    for part, chance in zip(counts.parts, counts.chance, strict=True):
        n = part.total.sum(axis=0)
        with np.errstate(invalid="ignore"):
            of_decoder = {"uniform": chance / n, "coverage": n / counts.of_all}
        frames.append(corpus_counts.of_heads(part, draws, seed, **of_decoder))
    frame = pd.concat(frames, ignore_index=True)
    # Of decoders the column stands here.
    frame.insert(frame.columns.get_loc("split") + 1, "tied", frame.pop("tied"))
    return frame


def of_offsets(counts: QuestionCounts) -> pd.DataFrame:
    """The accuracy of every negative offset for every direction and relation."""
    frames = []
    for part in counts.parts:
        n, offsets = part.total.sum(axis=0), offset_range(part.offsets.shape[1])
        with np.errstate(invalid="ignore"):
            share, coverage = part.offsets.sum(axis=0) / n, n / counts.of_all
        axes = {"direction": part.directions, "offset": offsets, "relation": part.relations}
        frames.append(tables.tidy(axes, accuracy=share, coverage=coverage))
    return pd.concat(frames, ignore_index=True)


def held_out(counts: QuestionCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each direction and relation on one half of the documents, on the other.

    `held_out_gain` is over the best negative offset of the same questions, chosen on the same half.
    """
    frames = [corpus_counts.held_out(part, draws, seed) for part in counts.parts]
    return pd.concat(frames, ignore_index=True)
