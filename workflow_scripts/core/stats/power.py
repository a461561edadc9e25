"""The smallest loss that a test could have detected: what a sentence of absence is read with."""

from collections.abc import Callable

import numpy as np

from workflow_scripts.core.stats.randomisation import TOLERANCE
from workflow_scripts.core.stats.swaps import Compared

POWER = 0.8  # share of the losses of this size that are to be found
SIMULATED = 100  # variants for each size of loss
DRAWS = 2000  # swap sets for the p-value of each
LEAST = 1e-4  # degree of breaking from which on the smallest one is searched
STEPS = 11  # halvings of the interval, on a logarithmic scale: to 0.5% of the degree

# Makes predictions [variant, example, ...] worse to a degree from 0 to 1; where only some examples
# are hit, in the given order [variant, example].
Break = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def smallest_loss(
    compared: Compared,
    baseline: np.ndarray,
    variants: np.ndarray,
    worse: Break,
    critical: float,
    seed: int,
) -> float:
    """The smallest mean loss that is significant in POWER of the simulated variants, or NaN.

    A simulated variant is one of the study's own without its effect: it swaps its predictions with
    the baseline's on a random set of examples, which keeps how much they differ. Then `worse` makes
    it lose, as little as is needed. It is found where its p-value alone is at most `critical` (of
    randomisation.Test). NaN where it would not be found even if broken altogether.

    `baseline` is [example, ...], `variants` [variant, example, ...]; the loss has the score's unit.
    """
    rng = np.random.default_rng(seed)
    n = len(baseline)
    per_example = (n, *[1] * (baseline.ndim - 1))
    if np.issubdtype(variants.dtype, np.floating):
        # Scores that rounding has made equal are kept apart: equal ones are slow to rank.
        apart = 1e-9 * np.arange(n).reshape(per_example)
        baseline, variants = baseline + apart, variants + apart
    chosen = variants[rng.integers(0, len(variants), SIMULATED)]
    kept = (rng.random((SIMULATED, n)) < 0.5).reshape(SIMULATED, *per_example)
    before, after = np.where(kept, baseline, chosen), np.where(kept, chosen, baseline)
    order = rng.random((SIMULATED, n)).argsort(axis=1)

    def measured(degree: float) -> tuple[float, float]:
        """The share of the variants that is found, and their mean loss."""
        broken = worse(after, order, degree)
        effects = compared.observed(before, broken)
        sizes = np.abs(compared.swapped(before, broken, DRAWS, seed))
        p = (sizes >= np.abs(effects) - TOLERANCE).mean(axis=0)
        return ((p <= critical) & (effects < 0)).mean(), -effects.mean()

    found, loss = measured(1.0) if critical > 0 else (0.0, 0.0)
    if found < POWER:
        return float("nan")
    low, high = np.log(LEAST), 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        found, smaller = measured(np.exp(middle))
        if found >= POWER:
            high, loss = middle, smaller
        else:
            low = middle
    return float(loss)


def made_wrong(labels: np.ndarray) -> Break:
    """Right classes become another class, for a share of the examples."""
    classes, index = np.unique(labels, return_inverse=True)
    others = np.roll(classes, 1)[index]

    def worse(predictions: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
        hit = order[:, : int(np.ceil(degree * len(labels)))]
        rows = np.arange(len(predictions))[:, None]
        before = predictions[rows, hit]
        broken = predictions.copy()
        broken[rows, hit] = np.where(before == labels[hit], others[hit], before)
        return broken

    return worse


def less_alike(labels: np.ndarray) -> Break:
    """Scores lose a part of what is linear in the labels, for all examples alike."""
    centred = labels - labels.mean()

    def worse(predictions: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
        slope = predictions @ centred / (centred**2).sum()
        return predictions - degree * slope[:, None] * centred

    return worse
