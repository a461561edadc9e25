"""Counting found dependencies, against plain loops and by hand."""

from collections import Counter

import numpy as np
import pytest

from workflow_scripts.core.data.annotations import Tree
from workflow_scripts.core.data.wordpieces import word_attention
from workflow_scripts.syntax import counting
from workflow_scripts.syntax.counting import ALL_RELEASED

RELATIONS = ["all", "nsubj", "det", "poss", "punct", ALL_RELEASED]


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


def slow_count(pattern: np.ndarray, tree: Tree) -> dict[str, Counter]:
    """Head by head, word by word, as one would do it in a notebook; [CLS] is before the words."""
    n = len(tree.words)
    counts = {"correct": Counter(), "with_special": Counter(), "tied": Counter()}
    for layer, head in np.ndindex(pattern.shape[:2]):
        weights = pattern[layer, head]
        for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
            if h == -1:
                continue
            d = i + 1 if relation == "poss" and tree.words[i + 1 : i + 2] == ("'s",) else i
            cases = {
                "dependent_to_head": (weights[d + 1], d, h),
                "head_to_dependent": (weights[h + 1], h, d),
                "released": (weights[:, d + 1], d, h),
            }
            for name, (row, word, answer) in cases.items():
                others = [j for j in range(n) if j != word]
                chosen = best(others, row[1:-1])
                hit = chosen == answer
                largest = row[1 + chosen]
                kinds = {
                    "correct": hit,
                    "with_special": hit and largest > max(row[0], row[-1]),
                    "tied": row[1 + answer] == largest
                    and answer != word
                    and sum(row[1 + j] == largest for j in others) > 1,
                }
                for kind, value in kinds.items():
                    counts[kind][name, layer, head, relation] += value
                    counts[kind][name, layer, head, "all"] += value and relation != "punct"
                    counts[kind][name, layer, head, ALL_RELEASED] += value
    return counts


@pytest.mark.parametrize("seed", range(8))
def test_against_the_notebooks_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(2, 12)))
    n = len(tree.words)
    pattern = rng.dirichlet(np.ones(n + 2), size=(2, 3, n + 2)).astype(np.float32)
    if seed % 2:
        pattern = pattern.round(1)  # many equal weights
    expected = slow_count(pattern, tree)
    word = np.array([-1, *range(n), -1])
    found = counting.hits(word_attention(pattern, word), tree)
    counts = counting.by_relation(found, counting.membership(tree, RELATIONS))
    for kind, numbers in counts._asdict().items():
        for index in np.ndindex(numbers.shape):
            direction, layer, head, relation = index
            key = (counting.DIRECTIONS[direction], layer, head, RELATIONS[relation])
            assert numbers[index] == expected[kind][key], (kind, key)


def test_released_offsets_by_hand() -> None:
    """Right for offset 1 are the, dogs and him."""
    tree = new_tree(
        "the dogs saw him run .", [1, 2, -1, 4, 2, 2], "det nsubj root nsubj ccomp punct"
    )
    offsets = counting.count_offsets(tree, ["all", ALL_RELEASED], [1, -1, 2, -2])
    assert offsets.tolist() == [[3, 3], [0, 0], [0, 0], [1, 1]]
    # a root in front: the released offset -1 predicts it
    first = new_tree("go there !", [-1, 0, 0], "root advmod punct")
    assert counting.count_offsets(first, ["all", ALL_RELEASED], [-1, -2]).tolist() == [
        [1, 2],
        [0, 2],  # so does -2, and finds `go` from `!`
    ]


def test_a_possessors_s_takes_its_place() -> None:
    tree = new_tree("the king 's city", [1, 3, 1, -1], "det poss possessive root")
    assert counting.stand_ins(tree).tolist() == [0, 2, 2, 3]
    without = new_tree("my old city is", [2, 2, -1, 2], "poss amod root cop")
    assert counting.stand_ins(without).tolist() == [0, 1, 2, 3]


def test_punctuation_without_labels() -> None:
    tree = Tree("t", ("a", ".", "b"), (2, 2, -1), ("", "", ""), ("", "", ""), "f:1")
    assert counting.relations_of([tree]) == ["all"]
    assert counting.membership(tree, ["all"])[:, 0].tolist() == [True, False, False]
