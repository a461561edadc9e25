"""Counting found dependencies, against plain loops and by hand."""

from collections import Counter

import numpy as np
import pytest

from workflow_scripts.core.data.trees import Tree
from workflow_scripts.syntax import counting

RELATIONS = ["all", "nsubj", "det", "poss", "punct"]


def new_tree(words: str, heads: list[int], relations: str) -> Tree:
    texts = tuple(words.split())
    return Tree("t", texts, tuple(heads), tuple(relations.split()), ("",) * len(texts), "f:1")


def random_tree(rng: np.random.Generator, n: int) -> Tree:
    heads = [int(rng.integers(n)) for _ in range(n)]
    heads = [-1 if head == k or rng.random() < 0.1 else head for k, head in enumerate(heads)]
    relations = rng.choice(["nsubj", "det", "poss", "punct"], size=n)
    words = rng.choice(["a", "b", "'s", "."], size=n)
    return new_tree(" ".join(words), heads, " ".join(relations))


def best(words: list[int], weights: np.ndarray) -> int:
    """The word with the largest weight, the first of equals."""
    return max(words, key=lambda word: (weights[word], -word))


def slow_count(attention: np.ndarray, tree: Tree) -> dict[tuple[str, int, int, str], int]:
    """Head by head, word by word, as one would do it in a notebook."""
    n = len(tree.words)
    counts: Counter = Counter()
    for layer, head in np.ndindex(attention.shape[:2]):
        weights = attention[layer, head]
        for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
            if h == -1:
                continue
            d = i + 1 if relation == "poss" and tree.words[i + 1 : i + 2] == ("'s",) else i
            others = [j for j in range(n) if j != d]
            hits = {
                "dependent_to_head": best(others, weights[d]) == h,
                "head_to_dependent": best([j for j in range(n) if j != h], weights[h]) == d,
                "released": best(others, weights[:, d]) == h,
            }
            for name, hit in hits.items():
                counts[name, layer, head, relation] += hit
                counts[name, layer, head, "all"] += hit and relation != "punct"
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_against_the_notebooks_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(2, 12)))
    n = len(tree.words)
    attention = rng.dirichlet(np.ones(n + 2), size=(2, 3, n))[..., :n].astype(np.float32)
    expected = slow_count(attention, tree)
    counts = counting.count(attention, tree, RELATIONS, released=True)
    for index in np.ndindex(counts.shape):
        direction, layer, head, relation = index
        key = (counting.DIRECTIONS[direction], layer, head, RELATIONS[relation])
        assert counts[index] == expected[key], key


def test_by_hand() -> None:
    """the dog barks: `the` looks at dog, dog at barks, barks at the."""
    tree = new_tree("the dog barks", [1, 2, -1], "det nsubj root")
    weights = np.array([[0.5, 0.4, 0.1], [0.3, 0.1, 0.6], [0.45, 0.15, 0.4]], dtype=np.float32)
    counts = counting.count(weights[None, None], tree, RELATIONS, released=True)[:, 0, 0]
    assert counts[0].tolist() == [2, 1, 1, 0, 0]  # both dependents look at their heads
    assert counts[1].tolist() == [0, 0, 0, 0, 0]  # dog looks at barks, barks at the
    # barks looks most at `the`, and `the` looks most at dog: neither is the head word
    assert counts[2].tolist() == [0, 0, 0, 0, 0]
    assert counting.membership(tree, RELATIONS).sum(axis=0).tolist() == [2, 1, 1, 0, 0]


def test_a_possessors_s_takes_its_place() -> None:
    tree = new_tree("the king 's city", [1, 3, 1, -1], "det poss possessive root")
    assert counting.stand_ins(tree).tolist() == [0, 2, 2, 3]
    weights = np.full((4, 4), 0.1, dtype=np.float32)
    weights[2, 3] = 0.9  # 's looks at the thing possessed, king does not
    weights[1, 0] = 0.9
    counts = counting.count(weights[None, None], tree, RELATIONS)
    assert counts[0, 0, 0, RELATIONS.index("poss")] == 1
    weights[3, 2] = 0.9  # and the thing possessed looks at 's
    assert counting.count(weights[None, None], tree, RELATIONS)[1, 0, 0, 3] == 1
    without = new_tree("my old city is", [2, 2, -1, 2], "poss amod root cop")
    assert counting.stand_ins(without).tolist() == [0, 1, 2, 3]


def test_offsets_count_every_word_of_a_sentence() -> None:
    tree = new_tree("a a b . b", [2, 2, -1, 2, 3], "det det root punct nsubj")
    counts = counting.count_offsets(tree, RELATIONS, [1, -1, 2])
    assert counts.tolist() == [[1, 0, 1, 0, 0], [1, 1, 0, 0, 1], [1, 0, 1, 0, 0]]


def test_punctuation_without_labels() -> None:
    tree = Tree("t", ("a", ".", "b"), (2, 2, -1), ("", "", ""), ("", "", ""), "f:1")
    assert counting.relations_of([tree]) == ["all"]
    assert counting.membership(tree, ["all"])[:, 0].tolist() == [True, False, False]


def test_word_pattern_needs_every_word() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(5), size=(1, 1, 5))
    word = np.array([-1, 0, 1, 1, -1])
    words = counting.word_pattern(pattern, word, 2)
    expected = pattern[0, 0]
    assert words[0, 0, 0, 1] == pytest.approx(expected[1, 2] + expected[1, 3])
    assert words[0, 0, 1, 0] == pytest.approx((expected[2, 1] + expected[3, 1]) / 2)
    assert counting.word_pattern(pattern, word, 3) is None
    assert counting.word_pattern(pattern, np.array([-1, 0, 2, 2, -1]), 3) is None


def test_relations_most_frequent_first() -> None:
    trees = [
        new_tree("a b c d", [1, -1, 1, 1], "det root nsubj det"),
        new_tree("a b", [-1, 0], "x det"),
    ]
    assert counting.relations_of(trees) == ["all", "det", "nsubj"]
