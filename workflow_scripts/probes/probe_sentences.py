"""What the probes learn from: sentences with their attention, trees, vectors and control heads."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.trees import ROOT, Tree, is_punctuation
from workflow_scripts.core.data.word_vectors import Vectors
from workflow_scripts.core.data.wordpieces import to_words, words_of_units
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError

log = logging.getLogger(__name__)
BEHAVIOURS = ("itself", "first", "last")


@dataclass(frozen=True)
class Sentence:
    """One sentence of n words.

    `attention` is float16 [head, word, word], heads layer by layer; `edges` float16
    [4, head, word]: attention to the start and the end token, and from them. `vectors` is
    [word, dimension]. `heads` has 0 for the root and k + 1 for word k, as the probes' scores do;
    `scored` says which words count (punctuation does not).
    """

    tree: Tree
    document: str
    attention: np.ndarray
    edges: np.ndarray
    vectors: np.ndarray
    heads: np.ndarray
    scored: np.ndarray

    def __len__(self) -> int:
        return len(self.heads)


def load(
    cache: Cache, trees: Sequence[Tree], documents: Sequence[str], vectors: Vectors
) -> list[Sentence]:
    """The sentences all of whose words have tokens; how many are left out is logged."""
    cache.expect([tree.id for tree in trees], "the treebank")
    found = []
    rows = zip(trees, documents, cache, strict=True)
    for tree, document, example in job.progress(rows, len(trees), "sentences"):
        index = words_of_units(example.word)
        kept = np.flatnonzero(index >= 0)
        if not np.array_equal(index[kept], np.arange(len(tree.words))):
            log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
            continue
        pattern = to_words(example.pattern, example.word).reshape(-1, len(index), len(index))
        ends = [
            pattern[:, kept, 0],
            pattern[:, kept, -1],
            pattern[:, 0, kept],
            pattern[:, -1, kept],
        ]
        pairs = zip(tree.words, tree.relations, strict=True)
        found.append(
            Sentence(
                tree=tree,
                document=document,
                attention=pattern[:, kept[:, None], kept].astype(np.float16),
                edges=np.stack(ends).astype(np.float16),
                vectors=vectors.lookup(tree.words),
                heads=np.array([0 if head == ROOT else head + 1 for head in tree.heads]),
                scored=np.array([not is_punctuation(word, relation) for word, relation in pairs]),
            )
        )
    if not found:
        raise InputError(f"{cache.path}: no sentence can be used; raise max_tokens")
    log.info("%d sentences used, %d left out", len(found), len(trees) - len(found))
    return found


def split(
    sentences: Sequence[Sentence], share: float, seed: int
) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to train on and, of other documents, about `share` of all to score.

    Raises InputError where there are fewer than two documents.
    """
    names = sorted({one.document for one in sentences})
    if len(names) < 2:
        raise InputError(
            "probes: the treebank's sentences come from one document, so they cannot be split by "
            "document; give a treebank of several documents"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    sizes = {name: sum(one.document == name for one in sentences) for name in names}
    held: set[str] = set()
    for place in order[:-1]:
        if sum(sizes[name] for name in held) >= share * len(sentences):
            break
        held.add(names[place])
    return (
        [one for one in sentences if one.document not in held],
        [one for one in sentences if one.document in held],
    )


def control_heads(
    words: Sequence[str], seed: int, behaviours: Sequence[str] = BEHAVIOURS
) -> np.ndarray:
    """Heads of the control task of Hewitt & Liang 2019, as `Sentence.heads`.

    Each word type has one behaviour, drawn by the seed: it attaches to itself, to the first or to
    the last word. A probe can learn that only by remembering word types.
    """
    place = {"first": 1, "last": len(words)}
    drawn = [behaviours[_draw(word.lower(), seed) % len(behaviours)] for word in words]
    return np.array([place.get(name, k) for k, name in enumerate(drawn, start=1)])


def _draw(word: str, seed: int) -> int:
    """The same number for a word type on every machine and in every process."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{word}".encode()).digest()[:8], "big")
