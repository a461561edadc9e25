"""A small annotated corpus, its caches by two models, and the tables made from them."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, Tree
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.finetuning import finetuning_tables

TABLES = ("similarity", "features", "links", "shared")
TEXTS = [
    ("the river flows .", "she saw the old city ."),
    ("he is not here .", "kings built the town , he saw ."),
    ("a small river near the town flows .", "it flows ."),
]
TAGS = {"river": "NN", "city": "NN", "town": "NN", "kings": "NNS", "flows": "VBZ", "saw": "VBD"}
TAGS |= {"built": "VBD", "is": "VBZ", "she": "PRP", "he": "PRP", "it": "PRP"}


def annotated() -> tuple[list[Example], list[Tree]]:
    examples, trees = [], []
    for number, texts in enumerate(TEXTS):
        spans = []
        for text in texts:
            start, mine = 0, []
            for word in text.split():
                mine.append((start, start + len(word)))
                start += len(word) + 1
            spans.append(tuple(mine))
        words = [word for text in texts for word in text.split()]
        tags = tuple(TAGS.get(word, "DT") for word in words)
        first, heads, relations = len(texts[0].split()), [], []
        for sentence in (range(first), range(first, len(words))):
            verbs = [k for k in sentence if tags[k].startswith("VB")]
            root = verbs[0] if verbs else sentence[0]
            for k in sentence:
                heads.append(-1 if k == root else root)
                noun = tags[k].startswith(("NN", "PRP")) and k != root
                relations.append("nsubj" if noun and k < root else "dobj" if noun else "dep")
        id_ = f"e{number}"
        examples.append(Example(id_, id_, f"f:{number}", texts, tuple(spans)))
        trees.append(Tree(id_, tuple(words), tuple(heads), tuple(relations), tags, f"f:{number}"))
    return examples, trees


def caches(study: dict[str, Path]) -> tuple[list, list]:
    cards = read_card(study["model"]), read_card(study["card"])
    with Cache(study["body"], cards[0]) as body, Cache(study["tuned"], cards[1]) as tuned:
        return list(body), list(tuned)


def measured(
    paths: dict[str, Path], folder: Path, labels: str = "paper"
) -> dict[str, pd.DataFrame]:
    """The tables of two caches."""
    out = {name: folder / name for name in TABLES}
    names = ("body", "tuned", "model", "card", "examples", "annotation")
    inputs = {name: paths[name] for name in names}
    finetuning_tables.main(**inputs, **out, task="mrpc", seed=1, bootstrap=100, labels=labels)
    return {name: tables.read(path) for name, path in out.items()}
