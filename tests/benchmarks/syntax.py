"""Scoring all heads, directions and relations, against the notebook's way.

The plain side takes, head by head and sentence by sentence, the argmax of the word-level
attention and compares it with the tree word by word in Python. The counts must be equal. Ours also
counts ties, and what special tokens take away.
"""

from collections import Counter

import numpy as np
from common import alternate, arguments, report

from workflow_scripts.core.data.trees import Tree
from workflow_scripts.core.data.wordpieces import WordAttention
from workflow_scripts.syntax import counting

LAYERS, HEADS = 6, 12
LABELS = ["det", "nsubj", "prep", "pobj", "dobj", "amod", "nn", "advmod", "aux", "poss", "punct"]


def main() -> None:
    """Compare both ways on random sentences."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    cases = random_cases(400 if options.full else 60)
    relations = counting.relations_of([tree for tree, _ in cases])
    results: dict[str, np.ndarray] = {}

    def ours() -> None:
        results["ours"] = sum(
            counting.count(attention_of(attention), tree, relations).correct
            for tree, attention in cases
        )

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


def notebooks_way(cases: list[tuple[Tree, np.ndarray]], relations: list[str]) -> np.ndarray:
    """Counts [direction, layer, head, relation]: each head and direction goes over the treebank."""
    counts = np.zeros((3, LAYERS, HEADS, len(relations)), dtype=int)
    for direction, layer, head in np.ndindex(3, LAYERS, HEADS):
        hits, missed = Counter(), Counter()
        for tree, attention in cases:
            weights = np.array(attention[layer, head])
            weights = weights.T if direction == 2 else weights
            weights[range(len(weights)), range(len(weights))] = 0
            predictions = np.argmax(weights, axis=-1)
            for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
                if h < 0:
                    continue
                d = i
                if relation == "poss" and i + 1 < len(tree.words) and tree.words[i + 1] == "'s":
                    d = i + 1
                if (predictions[h] == d) if direction == 1 else (predictions[d] == h):
                    hits[relation] += 1
                    hits["all"] += relation != "punct"
                else:
                    missed[relation] += 1
                    missed["all"] += relation != "punct"
        counts[direction, layer, head] = [hits[name] for name in relations]
    return counts


def attention_of(among: np.ndarray) -> WordAttention:
    """Attention among words [layer, head, word, word] beside none to special tokens."""
    none = np.zeros(among.shape[:-1], dtype=np.float32)
    return WordAttention(np.arange(among.shape[-1]), among.copy(), none, none)


def random_cases(n: int) -> list[tuple[Tree, np.ndarray]]:
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
        weights = rng.random((LAYERS, HEADS, length, length), dtype=np.float32)
        cases.append((tree, weights / weights.sum(axis=-1, keepdims=True)))
    return cases


if __name__ == "__main__":
    main()
