"""How often a head's most-attended word is the correct one (Clark et al. 2019, section 4.2).

For each word the prediction is the other word that gets most of its attention; [CLS], [SEP] and
the word itself are left out. Two directions are scored for each dependency with a head word:

* dependent_to_head: the dependent's prediction is its head word;
* head_to_dependent: the head word's prediction is the dependent.

`released` is how the paper's released code scores the second direction: the prediction for a
dependent is the word, among all, that attends most to it.

Roots are left out; punctuation is left out of "all". A possessor's 's stands for the possessor:
where the dependent of `poss` is followed by 's, that word takes its place ("the accuracy in
Table 1 counts 's as correct").
"""

from collections.abc import Sequence

import numpy as np

from workflow_scripts.core.data.trees import ROOT, Tree, is_punctuation
from workflow_scripts.core.data.wordpieces import among_words

ALL = "all"
DIRECTIONS = ("dependent_to_head", "head_to_dependent", "released")
POSSESSIVES = {"'s", "’s", "s'"}
POSSESSOR_RELATIONS = {"poss", "nmod:poss"}


def word_pattern(pattern: np.ndarray, word: np.ndarray, n_words: int) -> np.ndarray | None:
    """Attention among the words only, float32 [layer, head, word, word].

    `pattern` is [layer, head, query, key] over tokens, `word` the word of each token. None if a
    word has no token: it vanished in tokenisation or was cut off.
    """
    attention, index = among_words(pattern, word)
    return attention if np.array_equal(index, np.arange(n_words)) else None


def mask_diagonal(attention: np.ndarray) -> None:
    """Overwrite the diagonal of [..., word, word], so that no word attends most to itself."""
    np.einsum("...ii->...i", attention).fill(-1)


def stand_ins(tree: Tree) -> np.ndarray:
    """The word that is scored for each dependent, int [word]: itself, or a possessor's 's."""
    scored = np.arange(len(tree.words))
    for word, relation in enumerate(tree.relations[:-1]):
        if relation in POSSESSOR_RELATIONS and tree.words[word + 1].lower() in POSSESSIVES:
            scored[word] = word + 1
    return scored


def hits(attention: np.ndarray, tree: Tree, released: bool = False) -> np.ndarray:
    """Whether each dependency is predicted, bool [direction, layer, head, word]; false at roots.

    `attention` is [layer, head, word, word]; its diagonal is overwritten (copying it would take
    as long as the search). The third direction is there only if `released`.
    """
    heads, dependents = np.array(tree.heads), stand_ins(tree)
    mask_diagonal(attention)
    attended = attention.argmax(axis=-1)
    correct = np.empty((2 + released, *attended.shape), dtype=bool)
    correct[0] = attended.take(dependents, axis=-1) == heads
    correct[1] = attended.take(heads, axis=-1) == dependents
    if released:
        correct[2] = attention.argmax(axis=-2).take(dependents, axis=-1) == heads
    correct &= heads != ROOT
    return correct


def membership(tree: Tree, relations: Sequence[str]) -> np.ndarray:
    """Which words count for which of `relations`, bool [word, relation]; `all` is one of them."""
    column = {relation: index for index, relation in enumerate(relations)}
    member = np.zeros((len(tree.words), len(relations)), dtype=bool)
    for word, (relation, head) in enumerate(zip(tree.relations, tree.heads, strict=True)):
        if head == ROOT:
            continue
        if relation in column:
            member[word, column[relation]] = True
        if ALL in column and not is_punctuation(tree.words[word], relation):
            member[word, column[ALL]] = True
    return member


def count(
    attention: np.ndarray, tree: Tree, relations: Sequence[str], released: bool = False
) -> np.ndarray:
    """Dependencies predicted, int [direction, layer, head, relation]; see `hits`."""
    correct = hits(attention, tree, released).astype(np.float32)
    return (correct @ membership(tree, relations).astype(np.float32)).astype(int)


def count_offsets(tree: Tree, relations: Sequence[str], offsets: Sequence[int]) -> np.ndarray:
    """Dependencies whose head word lies at a fixed offset, int [offset, relation].

    An offset of 1 predicts the word to the right of the dependent as its head.
    """
    heads, dependents = np.array(tree.heads), stand_ins(tree)
    member = membership(tree, relations).astype(int)
    return np.stack([(heads == dependents + offset) @ member for offset in offsets])


def relations_of(trees: Sequence[Tree]) -> list[str]:
    """`all` and every relation of a treebank, most frequent first; roots do not count."""
    names, counts = np.unique(
        [
            relation
            for tree in trees
            for relation, head in zip(tree.relations, tree.heads, strict=True)
            if relation and head != ROOT
        ],
        return_counts=True,
    )
    return [ALL, *(str(names[k]) for k in np.argsort(-counts, kind="stable"))]
