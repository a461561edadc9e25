"""Classes of maps by rules: the mass on columns, on diagonals and within blocks."""

import numpy as np

CLASSES = ("vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous")
COLUMN = 0.5  # mass on special columns from which a map is vertical
DIAGONAL = 0.5  # mass on the diagonals from which it is diagonal
BOTH = 0.2  # mass on each, and
BOTH_TOGETHER = 0.6  # mass on the two together, from which it is both
BLOCK = 0.35  # mass within the own segment above that of uniform attention


def masses(
    pattern: np.ndarray, special: np.ndarray, segment: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass on special columns, on the three diagonals, and its excess within blocks: each [...].

    `pattern` is [..., query, key]; `special` (bool [L]) marks [CLS], [SEP]; `segment` is [L]. The
    diagonals are the token itself and its neighbours, without special columns. The excess is, among
    ordinary tokens, the share of mass within the own segment minus that of uniform attention; it is
    0 where there is one segment.
    """
    pattern = pattern.astype(np.float32)
    length = pattern.shape[-1]
    columns = pattern[..., special].sum(axis=-1).mean(axis=-1)
    positions = np.arange(length)
    near = np.abs(positions[:, None] - positions) <= 1
    diagonal = (pattern * (near & ~special)).sum(axis=-1).mean(axis=-1)
    ordinary = np.flatnonzero(~special)
    inner = pattern[..., ordinary[:, None], ordinary]
    same = segment[ordinary][:, None] == segment[ordinary]
    if same.all():
        return columns, diagonal, np.zeros_like(columns)
    total = inner.sum(axis=(-2, -1))
    within = (inner * same).sum(axis=(-2, -1)) / np.maximum(total, 1e-6)
    return columns, diagonal, within - same.mean()


def classify(pattern: np.ndarray, special: np.ndarray, segment: np.ndarray) -> np.ndarray:
    """The number of each map's class in CLASSES, int [...], of maps [..., query, key]."""
    columns, diagonal, block = masses(pattern, special, segment)
    both = (columns >= BOTH) & (diagonal >= BOTH) & (columns + diagonal >= BOTH_TOGETHER)
    choices = [both, columns >= COLUMN, diagonal >= DIAGONAL, block >= BLOCK]
    names = ["vertical+diagonal", "vertical", "diagonal", "block"]
    numbers = [CLASSES.index(name) for name in names]
    return np.select(choices, numbers, CLASSES.index("heterogeneous"))
