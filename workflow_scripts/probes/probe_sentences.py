"""Sentences that probes learn from: attention, trees, word vectors, heads of the control task."""

import hashlib
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.annotations import ROOT, Tree, is_punctuation
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.vectors import Vectors
from workflow_scripts.core.data.wordpieces import remedy, to_words, words_of_units
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)
BEHAVIOURS = ("itself", "first", "last")


@dataclass(frozen=True)
class Sentence:
    """One sentence of n words."""

    tree: Tree
    document: str
    attention: np.ndarray  # float16 [head, word, word], heads layer by layer
    edges: np.ndarray  # float16 [4, head, word]: to the start and the end token, and from them
    vectors: np.ndarray  # [word, dimension]
    heads: np.ndarray  # 0 for the root and k + 1 for word k
    scored: np.ndarray  # true for every word but punctuation

    def __len__(self) -> int:
        return len(self.heads)


class Split(NamedTuple):
    """Sentences to train on, and held-out sentences to score."""

    train: list[Sentence]
    dev: list[Sentence]


def load(
    cache: Cache, trees: Sequence[Tree], documents: Sequence[str], vectors: Vectors
) -> list[Sentence]:
    """The sentences all of whose words have tokens; the number of those left out is logged."""
    cache.expect([tree.id for tree in trees], "the treebank")
    sentences = []
    rows = zip(trees, documents, cache, strict=True)
    for tree, document, example in job.progress(rows, len(trees), "sentences"):
        index = words_of_units(example.word)
        kept = np.flatnonzero(index >= 0)
        if not np.array_equal(index[kept], np.arange(len(tree.words))):
            log.info("%s: left out, a word has no token or the sentence is too long", tree.source)
            continue
        pattern = to_words(example.pattern, example.word).reshape(-1, len(index), len(index))
        edges = pattern[:, kept, 0], pattern[:, kept, -1], pattern[:, 0, kept], pattern[:, -1, kept]
        pairs = zip(tree.words, tree.relations, strict=True)
        sentences.append(
            Sentence(
                tree=tree,
                document=document,
                attention=pattern[:, kept[:, None], kept].astype(np.float16),
                edges=np.stack(edges).astype(np.float16),
                vectors=vectors.lookup(tree.words),
                heads=np.array([0 if head == ROOT else head + 1 for head in tree.heads]),
                scored=np.array([not is_punctuation(word, relation) for word, relation in pairs]),
            )
        )
    if not sentences:
        why = remedy(trees, [cache.tokens(k)["word"] for k in range(len(cache))])
        raise InputError(f"{cache.path}: none of {len(trees)} sentences can be used; {why}")
    log.info("%d sentences used, %d left out", len(sentences), len(trees) - len(sentences))
    return sentences


def split(sentences: Sequence[Sentence], dev_share: float, seed: int) -> Split:
    """Split by document, with about `dev_share` of all sentences held out."""
    documents = sorted({sentence.document for sentence in sentences})
    if len(documents) < 2:
        raise InputError(
            "probes: the treebank's sentences come from one document, so they cannot be split by "
            "document; give a treebank of several documents"
        )
    sizes = Counter(sentence.document for sentence in sentences)
    held_out: set[str] = set()
    for index in np.random.default_rng(seed).permutation(len(documents))[:-1]:
        if sum(sizes[document] for document in held_out) >= dev_share * len(sentences):
            break
        held_out.add(documents[index])
    train = [sentence for sentence in sentences if sentence.document not in held_out]
    return Split(train, [sentence for sentence in sentences if sentence.document in held_out])


def without_tenth(sentences: Sequence[Sentence]) -> Split:
    """Training sentences without their first tenth, and that tenth, to choose settings on."""
    tenth = max(1, len(sentences) // 10)
    return Split(train=list(sentences[tenth:]), dev=list(sentences[:tenth]))


def control_heads(
    words: Sequence[str], seed: int, behaviours: Sequence[str] = BEHAVIOURS
) -> np.ndarray:
    """Heads of the control task of Hewitt & Liang 2019, as `Sentence.heads`.

    Each word type has one behaviour, chosen by the seed: it attaches to itself, to the first or to
    the last word. A probe can learn that only by memorising word types.
    """
    ends = {"first": 1, "last": len(words)}
    # Digests are the same on every machine and in every process.
    digests = [hashlib.sha256(f"{seed}:{word.lower()}".encode()).digest()[:8] for word in words]
    chosen = [behaviours[int.from_bytes(digest) % len(behaviours)] for digest in digests]
    return np.array([ends.get(behaviour, k) for k, behaviour in enumerate(chosen, start=1)])
