"""Small made-up sentences for the probes' tests."""

import numpy as np

from workflow_scripts.core.data.annotations import Tree
from workflow_scripts.probes.probe_sentences import Sentence

HEADS, DIMENSION = 6, 8


def sentence(length: int, seed: int, telling: int = 2) -> Sentence:
    """A random tree whose heads one attention head (`telling`) sees most of the time."""
    rng = np.random.default_rng(seed)
    heads = (np.arange(length) + rng.integers(1, length, size=length)) % length + 1
    heads[rng.integers(length)] = 0
    logits = rng.normal(size=(HEADS, length, length + 2))
    logits[telling, np.arange(length), np.where(heads == 0, length, heads - 1)] += 4
    weights = np.exp(logits)
    weights /= weights.sum(axis=-1, keepdims=True)
    words = tuple(rng.choice(["a", "b", "c", "d", "."], size=length).tolist())
    edges = rng.random((4, HEADS, length)) / length
    edges[:2] = weights[..., -2].copy(), weights[..., -1].copy()
    return Sentence(
        tree=Tree(f"s{seed}", words, tuple(int(head) - 1 for head in heads), (), (), ""),
        document=f"d{seed % 7}",
        attention=weights[..., :length].astype(np.float16),
        edges=edges.astype(np.float16),
        vectors=rng.normal(size=(length, DIMENSION)).astype(np.float32),
        heads=heads,
        scored=np.array([word != "." for word in words]),
    )


def sentences(n: int, seed: int = 0) -> list[Sentence]:
    """`n` sentences of 3 to 9 words."""
    rng = np.random.default_rng(seed)
    return [sentence(int(rng.integers(3, 10)), 1000 * seed + k) for k in range(n)]
