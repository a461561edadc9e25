"""Agreement of two sets of effects on the same texts, without the noise that both share.

One set's effects on a half of the texts are held against the other's on the other half. Noise then
only lowers the correlation, by as much as it lowers each set's own between halves (Spearman 1904).
"""

from collections.abc import Callable

import numpy as np

from workflow_scripts.core.stats import bootstrap

DIVISIONS = 100  # of the observed texts into halves
RELIABLE = 0.3  # the least reliability of effects that can be compared

# For each division of all samples, ranks of the effects on both halves; see `ranked_halves`.
Halves = list[np.ndarray]


def ranked_halves(
    scores: Callable[[np.ndarray], np.ndarray], n: int, draws: int, seed: int
) -> Halves:
    """`ranks` of the variants on random halves of `n` texts that share none.

    `scores` gives [sample, 1 + variant] of weights, as in `bootstrap`. The first array
    [half, division, variant] has DIVISIONS of the observed texts. Each of the others,
    [half, draw, variant], divides all bootstrap samples once; copies of a text stay in one half.
    """
    samples = [np.ones((DIVISIONS, n), int)]
    samples += [bootstrap.bootstrap_weights(n, draws, seed)] * bootstrap.DIVISIONS_OF_SAMPLE
    with np.errstate(invalid="ignore"):  # a sample of one text has an empty half: NaN
        halves = [bootstrap.on_halves(scores, of, seed + k) for k, of in enumerate(samples)]
    # Ranks are halves of whole numbers, which are exact in this type.
    return [ranks(np.stack(both)[..., 1:]).astype(np.float32) for both in halves]


def of_halves(one: Halves, other: Halves, n: int) -> dict[str, float | bool]:
    """Spearman's correlation of two sets of effects as if without noise, and what it rests on.

    `rho` is the correlation across halves over the root of the product of both sets' own. All are
    of half the texts, so that they have the same noise. The interval resamples all three; a sample
    in which a set's own halves disagree counts at both ends, as it could have any correlation.
    `reliability_*` is that of effects on all `n` texts. Where one is below RELIABLE, `too_noisy`,
    `rho` is NaN. `n_needed` texts make both reliable; NaN where a set's halves disagree.
    """
    own = [across(one, one), across(other, other)]
    whole = [of_all(float(halves[0])) for halves in own]
    product = own[0] * own[1]
    known = (own[0] > 0) & (own[1] > 0)
    values = across(one, other) / np.sqrt(np.where(known, product, 1))
    value = float(values[0].clip(-1, 1))
    low, high = (
        float(np.percentile(np.where(known, values, limit).clip(-1, 1)[1:], percentile))
        for limit, percentile in zip((-1, 1), bootstrap.CONFIDENCE, strict=True)
    )
    found = {"rho": value, "rho_low": min(low, value), "rho_high": max(high, value)}
    noisy = min(whole) < RELIABLE
    row: dict[str, float | bool] = dict.fromkeys(found, np.nan) if noisy else found
    row |= {"reliability_one": whole[0], "reliability_other": whole[1], "too_noisy": noisy}
    return row | {"n_needed": n_needed(min(whole), n)}


def across(one: Halves, other: Halves) -> np.ndarray:
    """Correlation of effects on a half with the other's on the other half, both ways: [1 + draw].

    Means over divisions, of the observed texts and of each sample; 0 where a half has no order.
    """
    both = [
        correlations(x[0], y[1]) + correlations(x[1], y[0]) for x, y in zip(one, other, strict=True)
    ]
    observed, *sampled = (np.nan_to_num(of) / 2 for of in both)
    return np.concatenate([[observed.mean()], np.mean(sampled, axis=0)])


def of_all(halves: float) -> float:
    """Reliability on all texts, of the correlation between halves (Spearman and Brown 1910).

    0 where halves disagree.
    """
    return 2 * max(halves, 0.0) / (1 + max(halves, 0.0))


def n_needed(reliability: float, n: int) -> float:
    """How many texts would give RELIABLE, of a reliability on `n` (Spearman and Brown 1910)."""
    if reliability <= 0:
        return np.nan
    odds = RELIABLE / (1 - RELIABLE)
    return float(np.ceil(n * odds * (1 - reliability) / reliability))


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last axis, ties at their mean, centred."""
    from scipy.stats import rankdata  # loads slowly

    found = rankdata(values, axis=-1)
    return found - found.mean(-1, keepdims=True)


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correlation of centred values along the last axis; NaN where all are alike."""
    size = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return np.where(size > 0, (x * y).sum(-1) / np.where(size > 0, size, 1), np.nan)
