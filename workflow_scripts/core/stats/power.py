"""The smallest loss that a test would have found: what a sentence of absence is read with."""

from collections.abc import Callable

import numpy as np

from workflow_scripts.core.stats.randomisation import TOLERANCE
from workflow_scripts.core.stats.swaps import Compared

POWER = 0.8  # share of the losses of this size that are to be found
SIMULATED = 100  # variants for each size of loss
DRAWS = 2000  # swap sets for the p-value of each

# Breaks predictions [variant, example, ...] at the examples [variant, some].
Break = Callable[[np.ndarray, np.ndarray], np.ndarray]


def smallest_loss(
    compared: Compared,
    baseline: np.ndarray,
    variants: np.ndarray,
    broken_at: Break,
    critical: float,
    seed: int,
) -> float:
    """The smallest mean loss that is significant in POWER of the simulated variants, or NaN.

    A simulated variant is one of the study's own without its effect: it swaps its predictions with
    the baseline's on a random set of examples, which keeps how many differ. Then `broken_at` breaks
    its predictions for some random examples, as few as are needed. It is found where its p-value
    alone is at most `critical` (of randomisation.Test). NaN where it would not be found even with
    all predictions broken.

    `baseline` is [example, ...], `variants` [variant, example, ...]; the loss has the score's unit.
    """
    rng = np.random.default_rng(seed)
    n = len(baseline)
    chosen = variants[rng.integers(0, len(variants), SIMULATED)]
    kept = (rng.random((SIMULATED, n)) < 0.5).reshape(SIMULATED, n, *[1] * (baseline.ndim - 1))
    before, after = np.where(kept, baseline, chosen), np.where(kept, chosen, baseline)
    order = rng.random((SIMULATED, n)).argsort(axis=1)

    def measured(count: int) -> tuple[float, float]:
        """The share of the variants with `count` broken predictions that is found; mean loss."""
        broken = broken_at(after, order[:, :count])
        effects = compared.observed(before, broken)
        sizes = np.abs(compared.drawn(before, broken, DRAWS, seed))
        p = (sizes >= np.abs(effects) - TOLERANCE).mean(axis=0)
        return ((p <= critical) & (effects < 0)).mean(), -effects.mean()

    found, loss = measured(n) if critical > 0 else (0.0, 0.0)
    if found < POWER:
        return float("nan")
    too_few, enough = 0, n
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        found, smaller = measured(middle)
        if found >= POWER:
            enough, loss = middle, smaller
        else:
            too_few = middle
    return float(loss)


def made_wrong(labels: np.ndarray) -> Break:
    """Right classes become another class."""
    classes, index = np.unique(labels, return_inverse=True)
    others = np.roll(classes, 1)[index]

    def broken_at(predictions: np.ndarray, examples: np.ndarray) -> np.ndarray:
        rows = np.arange(len(predictions))[:, None]
        said = predictions[rows, examples]
        right = said == labels[examples]
        broken = predictions.copy()
        broken[rows, examples] = np.where(right, others[examples], said)
        return broken

    return broken_at


def exchanged(predictions: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Predictions are exchanged among the examples, each getting another one's."""
    rows = np.arange(len(predictions))[:, None]
    broken = predictions.copy()
    broken[rows, examples] = predictions[rows, np.roll(examples, 1, axis=1)]
    return broken
