"""How often a head's most-attended word is the correct one (Clark et al. 2019, section 4.2).

For each word the prediction is the other word that gets most of its attention; [CLS], [SEP] and
the word itself are left out. Three directions are counted for each dependency with a head word:

* dependent_to_head: the dependent's prediction is its head word;
* head_to_dependent: the head word's prediction is the dependent;
* released: the second direction as in the paper's released code, where the prediction for a
  dependent is the word, among all, that attends most to it.

Roots are left out; punctuation is left out of "all". A possessor's 's stands for the possessor:
where the dependent of `poss` is followed by 's, that word takes its place ("the accuracy in
Table 1 counts 's as correct"). ALL_RELEASED counts as the released code does: punctuation too,
and roots, for which no head can be right.

A decoder's word sees no later word, so a dependency is asked in one direction alone: by the
dependent, where its head word stands to its left, or else by the head word. The last wordpiece
asks. The first word, on which most heads rest, is no candidate, like [CLS]: dependencies with it as
the target are left out. `coverage` is the share of all dependencies of a relation that are counted
in a direction.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.annotations import ROOT, Tree, is_punctuation
from workflow_scripts.core.data.wordpieces import WordAttention

ALL = "all"
ALL_RELEASED = "all (released counting)"
DIRECTIONS = ("dependent_to_head", "head_to_dependent", "released")
DIRECTIONS_BACK = DIRECTIONS[:2]  # for a decoder
# Those that the released code scores.
RELEASED_DIRECTIONS = slice(0, 3, 2)
POSSESSIVES = {"'s", "’s", "s'"}
POSSESSOR_RELATIONS = {"poss", "nmod:poss"}


class DependencyHits(NamedTuple):
    """Dependencies that are predicted, or numbers of them, [direction, layer, head, ...].

    `with_special`: also if special tokens are candidates; a word must get more than each of them.
    `tied`: the correct word shares the largest weight, so that the order of the words decides.
    """

    correct: np.ndarray
    with_special: np.ndarray
    tied: np.ndarray


def stand_ins(tree: Tree) -> np.ndarray:
    """The word that is scored for each dependent, int [word]: itself, or a possessor's 's."""
    scored = np.arange(len(tree.words))
    for word, relation in enumerate(tree.relations[:-1]):
        if relation in POSSESSOR_RELATIONS and tree.words[word + 1].lower() in POSSESSIVES:
            scored[word] = word + 1
    return scored


def hits(attention: WordAttention, tree: Tree) -> DependencyHits:
    """Whether each dependency is predicted, bool [direction, layer, head, word]; false at roots.

    The diagonal of `attention.among`, which has all words of the tree, is overwritten (copying it
    would take as long as the search).
    """
    heads, dependents, weights = np.array(tree.heads), stand_ins(tree), attention.among
    np.einsum("...ii->...i", weights).fill(-1)  # no word attends most to itself
    given, got = largest_weights(weights), largest_weights(weights.swapaxes(-1, -2))
    kinds = [
        found(given, dependents, heads, attention.to_special),
        found(given, heads, dependents, attention.to_special),
        found(got, dependents, heads, attention.from_special),
    ]
    return stacked(kinds, heads != ROOT)


def stacked(kinds: Sequence[DependencyHits], counted: np.ndarray) -> DependencyHits:
    """The hits of all directions, where `counted`."""
    return DependencyHits(*(np.stack(kind) & counted for kind in zip(*kinds, strict=True)))


class Largest(NamedTuple):
    """Of `weights` [..., word, other] each word's largest: whose it is (the first such), and it."""

    weights: np.ndarray
    index: np.ndarray
    weight: np.ndarray


def largest_weights(weights: np.ndarray) -> Largest:
    """The largest weights of every word."""
    index = weights.argmax(-1)
    return Largest(weights, index, np.take_along_axis(weights, index[..., None], -1)[..., 0])


def found(
    chosen: Largest, words: np.ndarray, answers: np.ndarray, special: np.ndarray
) -> DependencyHits:
    """Whether the largest weight of each of `words` is that of its answer; of one direction.

    `special` [..., word] are the largest weights of special tokens.
    """
    index, weight = (part.take(words, axis=-1) for part in (chosen.index, chosen.weight))
    right = chosen.weights[..., words, answers]
    correct = index == answers
    tied = right == weight  # an answer that is not the first such has its equal
    *heads, places = correct.nonzero()  # of one that is, its equal is looked for
    same = chosen.weights[*heads, words[places]] == weight[correct][:, None]
    tied[correct] = same.sum(-1) > 1
    with_special = correct & (right > special.take(words, axis=-1))
    return DependencyHits(correct, with_special, tied)


def membership(tree: Tree, relations: Sequence[str]) -> np.ndarray:
    """Which words count for which of `relations`, bool [word, relation]."""
    linked = np.array(tree.heads) != ROOT
    columns = {ALL_RELEASED: np.ones(len(linked), bool)}
    pairs = zip(tree.words, tree.relations, strict=True)
    columns[ALL] = linked & [not is_punctuation(*pair) for pair in pairs]
    own = np.array(tree.relations, object)
    each = [columns[name] if name in columns else linked & (own == name) for name in relations]
    return np.stack(each, axis=-1)


def by_relation(hits: DependencyHits, member: np.ndarray) -> DependencyHits:
    """Dependencies predicted, int [direction, layer, head, relation]; `member` is `membership`."""
    found = np.stack(hits).astype(np.float32) @ member.astype(np.float32)
    return DependencyHits(*found.astype(int))


def count_offsets(tree: Tree, relations: Sequence[str], offsets: Sequence[int]) -> np.ndarray:
    """Dependencies whose head word lies at a fixed offset, int [offset, relation].

    An offset of 1 predicts the word to the right of the dependent as its head. The released code
    predicts the last word where that lies behind the sentence, and the root before it.
    """
    heads, dependents = np.array(tree.heads), stand_ins(tree)
    member = membership(tree, relations)
    released = np.array([relation == ALL_RELEASED for relation in relations])
    counts = []
    for offset in offsets:
        predicted = dependents + offset
        within = np.clip(predicted, ROOT, len(heads) - 1)
        hit = np.where(released, (within == heads)[:, None], (predicted == heads)[:, None])
        counts.append((hit & member).sum(axis=0))
    return np.stack(counts)


def relations_of(trees: Sequence[Tree]) -> list[str]:
    """`all` and every relation of a treebank, most frequent first; roots do not count."""
    counts = Counter(
        relation
        for tree in trees
        for relation, head in zip(tree.relations, tree.heads, strict=True)
        if relation and head != ROOT
    )
    return [ALL, *sorted(counts, key=lambda relation: (-counts[relation], relation))]


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
    heads, dependents = np.array(tree.heads), stand_ins(tree)
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
    largest = largest_weights(weights)
    kinds = [
        found(largest, asker, answer, special)
        for asker, answer in zip(asked.asker, asked.answer, strict=True)
    ]
    return stacked(kinds, asked.counted[:, None, None])
