"""A random treebank, and its scores."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data.annotations import Tree
from workflow_scripts.syntax import syntax_scores

WORDS = ["the", "river", "flows", "through", "an", "old", "city", "kings", "'s", ".", "builtby"]
LABELS = ["det", "nsubj", "poss", "pobj", "punct"]


def random_trees(n: int) -> list[Tree]:
    rng = np.random.default_rng(5)
    trees = []
    for number in range(n):
        length = int(rng.integers(6, 12))
        root = int(rng.integers(length))
        heads = [
            -1 if k == root else int((k + rng.integers(1, length)) % length) for k in range(length)
        ]
        relations = ["root" if k == root else str(rng.choice(LABELS)) for k in range(length)]
        words = tuple(str(word) for word in rng.choice(WORDS, size=length))
        trees.append(
            Tree(f"t{number}", words, tuple(heads), tuple(relations), ("",) * length, "f:1")
        )
    return trees


def run(folder: Path, trees: Path, out: Path | None = None, **options: object) -> None:
    settings = {"largest_offset": 3, "released_direction": False, "bootstrap": 200}
    settings |= {"corpus": folder / "corpus.jsonl"} | options
    names = ("scores", "released", "offsets", "best")
    syntax_scores.main(
        attention=folder / "cache.h5",
        model=folder / "model.json",
        trees=trees,
        **{name: (out or folder) / name for name in names},
        **settings,
    )
