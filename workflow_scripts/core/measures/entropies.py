"""The entropy of attention distributions."""

import numpy as np


def row_entropy(pattern: np.ndarray) -> np.ndarray:
    """Entropy in nats of each query's distribution: [layer, head, query] of [..., query, key]."""
    weights = pattern.astype(np.float32)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...k,...k->...", weights, logs)
