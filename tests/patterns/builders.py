"""Made-up maps of each class for the tests of patterns."""

import numpy as np

LENGTH = 12
SPECIAL = np.array([True] + [False] * 4 + [True] + [False] * 5 + [True])
SEGMENT = np.array([0] * 6 + [1] * 6)


def made_up(kind: str, seed: int = 0) -> np.ndarray:
    """A map of a class, with some noise."""
    rng = np.random.default_rng(seed)
    weights = rng.random((LENGTH, LENGTH)) * 0.05
    if "vertical" in kind:
        weights[:, 0] += 2
    if "diagonal" in kind:
        weights += 2 * np.eye(LENGTH, k=-1)
    if kind == "block":
        weights += SEGMENT[:, None] == SEGMENT
        weights[:, SPECIAL] = 0
    if kind == "heterogeneous":
        weights = rng.random((LENGTH, LENGTH)) ** 8
    return weights / weights.sum(axis=1, keepdims=True)
