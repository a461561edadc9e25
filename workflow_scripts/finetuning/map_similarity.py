"""Similarity of each head's maps before and after fine-tuning (Kovaleva et al., 4.3, Fig. 5)."""

import numpy as np


def cosine(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Cosine similarity of flattened maps, float64 [layer, head], of two [layer, head, L, L]."""
    shape = (*before.shape[:2], -1)
    x, y = (np.asarray(maps, dtype=np.float64).reshape(shape) for maps in (before, after))
    return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
