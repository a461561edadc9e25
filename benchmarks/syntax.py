"""Scoring all heads, directions and relations, against the notebook's way.

The plain side takes, head by head and sentence by sentence, the argmax of the word-level
attention and compares it with the tree word by word in Python. Both sides count the words that are
right, those that stay so among special tokens, and ties; the counts must be equal.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
from common import alternate, arguments, report

from workflow_scripts.core.data.annotations import Tree
from workflow_scripts.core.data.wordpieces import WordAttention
from workflow_scripts.syntax import counting

LAYERS, HEADS = 6, 12
LABELS = ["det", "nsubj", "prep", "pobj", "dobj", "amod", "nn", "advmod", "aux", "poss", "punct"]


def main() -> None:
    """Compare both ways on random sentences."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    cases = random_cases(400 if options.full else 60)
    relations = counting.relations_of([case.tree for case in cases])
    results: dict[str, np.ndarray] = {}

    def ours() -> None:
        counts = []
        for case in cases:
            member = counting.membership(case.tree, relations)
            counts.append(
                counting.by_relation(counting.hits(attention_of(case), case.tree), member)
            )
        results["ours"] = np.stack([sum(kind) for kind in zip(*counts, strict=True)])

    def notebook() -> None:
        results["notebook"] = notebooks_way(cases, relations)

    rounds = alternate({"ours": ours, "notebook": notebook}, 5 if options.full else 3)
    report(
        "syntax",
        rounds.others,
        ratio=rounds.ratio("notebook", "ours"),
        span=rounds.span("notebook", "ours"),
        counts_equal=bool((results["ours"] == results["notebook"]).all()),
        detail={"sentences": len(cases), "heads": LAYERS * HEADS, "seconds": rounds.seconds},
    )


class Case(NamedTuple):
    """A sentence and its attention among words and to and from special tokens."""

    tree: Tree
    among: np.ndarray  # [layer, head, word, word]
    to_special: np.ndarray  # [layer, head, word]
    from_special: np.ndarray


def notebooks_way(cases: list[Case], relations: list[str]) -> np.ndarray:
    """Counts [kind, direction, layer, head, relation]: each head and direction goes over all."""
    counts = np.zeros((3, 3, LAYERS, HEADS, len(relations)), dtype=int)
    for direction, layer, head in np.ndindex(3, LAYERS, HEADS):
        kinds = Counter(), Counter(), Counter()
        for case in cases:
            tree, weights = case.tree, np.array(case.among[layer, head])
            weights = weights.T if direction == 2 else weights
            weights[range(len(weights)), range(len(weights))] = -1
            special = (case.from_special if direction == 2 else case.to_special)[layer, head]
            predictions, largest = np.argmax(weights, axis=-1), np.max(weights, axis=-1)
            several = (weights == largest[:, None]).sum(axis=-1) > 1
            for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
                if h < 0:
                    continue
                d = i
                if relation == "poss" and i + 1 < len(tree.words) and tree.words[i + 1] == "'s":
                    d = i + 1
                word, answer = (h, d) if direction == 1 else (d, h)
                right = predictions[word] == answer
                over_special = right and weights[word, answer] > special[word]
                tied = several[word] and weights[word, answer] == largest[word]
                for hits, holds in zip(kinds, (right, over_special, tied), strict=True):
                    hits[relation] += holds
                    hits["all"] += holds and relation != "punct"
        counts[:, direction, layer, head] = [[hits[name] for name in relations] for hits in kinds]
    return counts


def attention_of(case: Case) -> WordAttention:
    """The case's attention as the rule reads it, which it overwrites."""
    words = np.arange(len(case.tree.words))
    return WordAttention(words, case.among.copy(), case.to_special, case.from_special)


def random_cases(n: int) -> list[Case]:
    """Random trees and attention; lengths as in a treebank of running text."""
    rng = np.random.default_rng(0)
    cases = []
    for number in range(n):
        length = int(np.clip(rng.gamma(4, 5.5), 4, 80))
        root = int(rng.integers(length))
        heads = [int((k + rng.integers(1, length)) % length) for k in range(length)]
        heads[root] = -1
        relations = tuple("root" if k == root else str(rng.choice(LABELS)) for k in range(length))
        words = tuple(str(rng.choice(["word", "'s"], p=[0.95, 0.05])) for _ in range(length))
        tree = Tree(str(number), words, tuple(heads), relations, ("",) * length, "")
        # Rounded, so that some weights are equal.
        weights = rng.random((LAYERS, HEADS, length, length), dtype=np.float32).round(2)
        special = rng.random((2, LAYERS, HEADS, length), dtype=np.float32)
        cases.append(Case(tree, weights, *special))
    return cases


if __name__ == "__main__":
    main()
