"""How often a rule comes out with as many examples as ours, if the claim holds."""

from statistics import NormalDist

import numpy as np

from workflow_scripts.claims.numbers import CONFIDENCE, share
from workflow_scripts.claims.published import Claim
from workflow_scripts.claims.verdicts import BOUNDS, Measured, inside_outside

DRAWS, SEED = 2000, 1
Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


def power(claim: Claim, measured: Measured) -> float | None:
    """The share of samples whose interval lies inside of what the rule wants, if the claim holds.

    It holds if the number is the paper's; where the paper has none, what the measure expects, or
    what the claim says that the number is about, or not below.
    Shares are sampled as binomial numbers of our n, other numbers as normal ones with the spread
    of our interval, which every sample has; a measure may draw by itself. None where no number is
    expected, or where a count has no draws of its own.
    """
    rng = np.random.default_rng(SEED)
    said = claim.value if claim.rule in ("within", "not below") else None
    known = (one for one in (claim.printed, measured.expected, said) if one is not None)
    expected = next(known, None)
    below, above = measured.value - measured.low, measured.high - measured.value
    if measured.drawn is not None:
        numbers = measured.drawn(rng, DRAWS)
    elif expected is None or np.isnan(below + above) or measured.interval.startswith(BOUNDS):
        return None
    elif measured.binomial and measured.n:
        counts, of = np.unique(rng.binomial(measured.n, expected / 100, DRAWS), return_inverse=True)
        ends = np.array([share(count, measured.n) for count in counts])
        numbers = np.stack([100 * counts / measured.n, *ends.T])[:, of]
    else:
        values = rng.normal(expected, (below + above) / 2 / Z, DRAWS)
        numbers = np.stack([values, values - below, values + above])
    return float(inside_outside(claim, numbers)[0].mean())


def without_effect(
    below: np.ndarray, above: np.ndarray, z: float, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """Estimates, with their ends, of effects that are all 0: [3, draws, effect].

    They are normal and independent. Their intervals reach as far `below` and `above` as ours do,
    which stand `z` standard errors from ours on average.
    """
    effects = rng.normal(0, (below + above) / 2 / z, (draws, len(below)))
    return np.stack([effects, effects - below, effects + above])
