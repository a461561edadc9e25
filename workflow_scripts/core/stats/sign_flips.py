"""An exact paired test: how often would random signs give differences as large a sum?"""

import numpy as np

from workflow_scripts.core.stats.randomisation import TOLERANCE

MOST_UNITS = 32  # two halves of 65,536 sums each


def sign_flip_p(differences: np.ndarray) -> np.ndarray:
    """Two-sided p-values [variant] of differences [unit, variant] of up to MOST_UNITS units.

    Where neither member of a pair tends to be larger, a difference is as likely with the other
    sign. p is the share of all 2^n assignments of signs whose sum is at least as large either way
    (Fisher 1935, section 21). The sums of both halves of the units are combined, not written out.
    """
    n = len(differences)
    if n > MOST_UNITS:
        raise ValueError(f"{n} units: {MOST_UNITS} at most")
    least = np.abs(differences.sum(axis=0)) - TOLERANCE
    halves = (differences[: n // 2], differences[n // 2 :])
    one, other = (np.sort(_signs(len(half)) @ half, axis=0) for half in halves)
    p = np.ones(len(least))
    for variant, bound in enumerate(least):
        if bound > 0:
            below = np.searchsorted(other[:, variant], bound - one[:, variant])
            p[variant] = 2 * (len(other) - below).sum() / 2.0**n
    return p.clip(max=1)


def holm(p: np.ndarray) -> np.ndarray:
    """p-values of several tests, corrected for their number (Holm 1979); one that is NaN is 1."""
    p = np.nan_to_num(np.asarray(p, float), nan=1.0)
    order = p.argsort(kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)).clip(max=1)
    corrected = np.empty_like(p)
    corrected[order] = steps
    return corrected


def _signs(n: int) -> np.ndarray:
    """All assignments of signs to `n` units, float64 [2^n, n]."""
    return 1.0 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
