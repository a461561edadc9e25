"""Bootstrap samples, intervals that come from them, and choices measured on held-out data.

A sample is the weights of examples, how often each was sampled; every variant is scored on the same
samples (paired).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.metrics import correlate, weighted_scores

CONFIDENCE = (2.5, 97.5)  # percentiles of an interval's ends
FEW = 200  # units below which intervals are wider than these; docs/statistics.md states coverage
# Random divisions of a bootstrap sample, averaged: one alone would add its own noise.
DIVISIONS_OF_SAMPLE = 8
AT_A_TIME = 500  # divisions, whose weights of all examples are in memory
INDEPENDENT: Final = None  # in place of documents: every example is resampled on its own

# Scores [draw, variant], the baseline's first, of weights [draw, example]; more is better.
Scores = Callable[[np.ndarray], np.ndarray]


@lru_cache(maxsize=1)  # a table's intervals are of the same samples
def bootstrap_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """How often each of `n` examples is sampled with replacement: int [draw, example], fixed."""
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    weights.flags.writeable = False
    return weights


def document_weights(documents: Sequence[str], draws: int, seed: int) -> np.ndarray:
    """How often each example is sampled where whole documents are: int [draw, example].

    Examples of one document are alike, so they are sampled together (the cluster bootstrap: Davison
    and Hinkley 1997, section 3.8).
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    return bootstrap_weights(len(names), draws, seed)[:, codes]


def observed_and_resampled(n: int, draws: int, seed: int) -> np.ndarray:
    """The weights of the observed sample, all 1, above those of `draws` bootstrap samples."""
    return np.concatenate([np.ones((1, n), int), bootstrap_weights(n, draws, seed)])


def half_weights(n: int, draws: int, seed: int) -> np.ndarray:
    """1 for the examples of a random half, else 0: int [draw, example]."""
    return _first_halves(np.ones((draws, n), int), seed)


def divided(scores: Scores, n: int, divisions: int, seed: int) -> list[np.ndarray]:
    """Scores on random halves of `n` examples, and on the others: each [division, variant]."""
    rng = np.random.default_rng(seed)
    blocks = [AT_A_TIME] * (divisions // AT_A_TIME) + [divisions % AT_A_TIME]
    parts = [on_halves(scores, np.ones((block, n), int), rng) for block in blocks if block]
    return [np.concatenate(of_half) for of_half in zip(*parts, strict=True)]


def honest_gain(
    scores: Scores, n: int, halves: Sequence[np.ndarray], draws: int, seed: int
) -> dict[str, float]:
    """The gain of the best variant over the baseline, on examples that did not choose it.

    In every division (`halves` is of `divided`) the best variant on one half of the `n` examples is
    measured against the baseline on the other half, and vice versa; `gain` is the mean over
    divisions. `naive` chooses and measures on all examples.

    `gain_low` and `gain_high` are the 95% interval over examples: `draws` bootstrap samples each
    choose and measure anew, on halves that share no example. Such halves hold fewer distinct
    examples, which choose less well, so percentiles are also taken around `gain` (Davison and
    Hinkley 1997, section 5.2); the interval holds both, so that none of them decides a verdict.
    """
    gain = float(_held_out_gain(*halves).mean())
    weights = bootstrap_weights(n, draws, seed)
    sampled = np.mean(
        [
            _held_out_gain(*on_halves(scores, weights, seed + 1 + k))
            for k in range(DIVISIONS_OF_SAMPLE)
        ],
        axis=0,
    )
    low, high = np.percentile(sampled, CONFIDENCE)
    bias = float(sampled.mean()) - gain
    low, high = min(low, low - bias), max(high, high - bias)
    whole = scores(np.ones((1, n)))[0]
    naive = float(whole[1:].max() - whole[0])
    return {"naive": naive, "gain": gain, "gain_low": float(low), "gain_high": float(high)}


def _held_out_gain(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The gain on examples that did not choose the variant, mean of both ways round: [draw]."""
    one, other = ((of[:, 1:], of[:, :1]) for of in (one, other))
    return (_gained(one, other) + _gained(other, one)) / 2


def half_agreement(halves: Sequence[np.ndarray]) -> dict[str, float]:
    """How well effects measured on one half of the examples agree with those on the other half.

    Pearson's and Spearman's correlation over variants, means over divisions (of `divided`), with
    the 2.5th and 97.5th percentiles: noise in the effects keeps them below 1.
    """
    from scipy.stats import rankdata  # half a second, which jobs that only resample are spared

    effects = [of_half[:, 1:] - of_half[:, :1] for of_half in halves]
    ranked = [rankdata(each, axis=1) for each in effects]
    columns = {}
    for name, pair in (("pearson", effects), ("spearman", ranked)):
        values = correlate(*pair, np.ones((1, pair[0].shape[1])))
        low, high = np.percentile(values, CONFIDENCE)
        columns |= {name: float(np.mean(values)), f"{name}_low": low, f"{name}_high": high}
    return columns


def correlations(x: np.ndarray, y: np.ndarray, draws: int, seed: int) -> dict[str, float | int]:
    """Pearson's and Spearman's correlation over paired values, with 95% bootstrap intervals."""
    weights = observed_and_resampled(len(x), draws, seed)
    columns: dict[str, float | int] = {}
    for metric in ("pearson", "spearman"):
        values = weighted_scores(metric, x, y[None], weights)[:, 0]
        columns[metric] = float(values[0])
        columns[f"{metric}_low"], columns[f"{metric}_high"] = percentile_ends(values[1:], len(x))
    return columns | {"n": len(x)}


def on_halves(
    scores: Scores, weights: np.ndarray, seed: int | np.random.Generator
) -> list[np.ndarray]:
    """Scores on random halves of the weighted examples, and on the others: each [draw, variant]."""
    half = _first_halves(weights, seed)
    return [scores(weights * part) for part in (half, 1 - half)]


def _first_halves(weights: np.ndarray, seed: int | np.random.Generator) -> np.ndarray:
    """1 for a random half of the examples that have a weight, else 0: int [draw, example]."""
    draws, n = weights.shape
    order = np.random.default_rng(seed).random((draws, n)).argsort(axis=1)
    has_weight = weights > 0
    ranks = np.where(has_weight, order, n + order).argsort(axis=1).argsort(axis=1)
    return (ranks < has_weight.sum(axis=1, keepdims=True) // 2).astype(int)


def per_head(
    values: Mapping[str, np.ndarray],
    kind: str,
    measure: str,
    draws: int,
    seed: int,
    documents: Sequence[str] | None,
    by_unit: bool = False,
) -> pd.DataFrame:
    """One row per head and entry of `values`: the mean over examples with a 95% interval.

    `values` maps each name (column `kind`) to numbers [example, layer, head]; NaN where an
    example has none. Columns: layer, head, `kind`, `measure`, ci_low, ci_high, n (examples).
    Unless INDEPENDENT, whole `documents` (one of each example) are resampled, and counted in
    n_documents. With `by_unit`, lists `sums` and `counts` over each resampled unit, too: what heads
    and tables have together can then be compared on the same units.
    """
    frames = []
    for name, numbers in values.items():
        mean, low, high = bootstrap_mean(numbers, draws, seed, documents)
        n_layers, n_heads = mean.shape
        n = np.isfinite(numbers).sum(axis=0)
        columns = {kind: name, measure: mean, "ci_low": low, "ci_high": high, "n": n}
        if documents is not INDEPENDENT:
            columns["n_documents"] = count_documents(numbers, documents)
        if by_unit:
            of_units = sums_and_counts(numbers.reshape(len(numbers), -1), documents)
            for column, units in zip(("sums", "counts"), of_units, strict=True):
                columns[column] = np.empty(mean.shape, object)
                columns[column].ravel()[:] = list(units.T)
        frames.append(tables.tidy({"layer": range(n_layers), "head": range(n_heads)}, **columns))
    return pd.concat(frames, ignore_index=True)


def bootstrap_mean(
    values: np.ndarray, draws: int, seed: int, documents: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over the first axis, NaN left out, and the ends of its 95% interval (`ratio_ends`).

    Whole `documents` (one of each example) are resampled, or examples if INDEPENDENT. All three are
    NaN where no example has a value; the ends also where all values are of one unit.
    """
    sums, counts = sums_and_counts(values.reshape(len(values), -1), documents)
    with np.errstate(invalid="ignore"):
        mean = sums.sum(axis=0) / counts.sum(axis=0)
    low, high = ratio_ends(sums, counts, draws, seed)
    return tuple(each.reshape(values.shape[1:]) for each in (mean, low, high))


def sums_and_counts(
    values: np.ndarray, documents: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of values [example, ...] and how many are not NaN, both float64 [unit, ...]."""
    present = np.isfinite(values)
    sums, counts = np.where(present, values, 0).astype(np.float64), present.astype(np.float64)
    if documents is INDEPENDENT:
        return sums, counts
    return sum_by_document(sums, documents), sum_by_document(counts, documents)


def sum_by_document(values: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Sums of values [example, ...] over each document's examples, [document, ...]."""
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def percentile_ends(resampled: np.ndarray, n_units: int) -> np.ndarray:
    """Both ends, [2, ...], of the 95% percentile interval of numbers [draw, ...]; NaN left out.

    NaN where `n_units`, of which the draws are samples, is 1.

    Percentiles over few units are too narrow: they miss the n / (n - 1) of a variance, and that it
    is estimated. Below FEW units they lie as much farther out as the ends of a t interval do than
    those of a normal one (the expanded percentile interval of Hesterberg 2015, section 3.2.5).
    """
    if n_units < 2:
        return np.full((2, *resampled.shape[1:]), np.nan)
    percentiles = CONFIDENCE
    if n_units < FEW:
        from scipy.special import ndtr, stdtrit  # these alone load sooner than scipy.stats

        beyond = np.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, CONFIDENCE[1] / 100)
        percentiles = 100 * ndtr([-beyond, beyond])
    # NaNs cost one pass per column.
    percentile = np.nanpercentile if np.isnan(resampled).any() else np.percentile
    return percentile(resampled, percentiles, axis=0)


def ratio_ends(sums: np.ndarray, sizes: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Both ends, [2, column], of 95% intervals of the sum of `sums` over that of `sizes`.

    Whole units are resampled. Both are float64 [unit, column]; a unit without a column has 0 for
    both there. NaN where fewer than two units have the column. From FEW units on these are the
    percentiles of `draws` samples. Below, each end is the farther one of `percentile_ends` and of
    bootstrap-t (Davison and Hinkley 1997, section 5.2.1): the former alone covers too seldom where
    units have skewed values, the latter where they are of unlike sizes. The ends stay within the
    units' values, and so within the range of the measure.
    """
    weights = bootstrap_weights(len(sums), draws, seed).astype(np.float64)  # products of one type
    n_units, ends = np.count_nonzero(sizes, axis=0), np.full((2, sums.shape[1]), np.nan)
    for n in set(n_units[n_units > 1].tolist()):
        sum_of, size = sums[:, n_units == n], sizes[:, n_units == n]
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled = (weights @ sum_of) / (weights @ size)
            low, high = percentile_ends(resampled, n)
            if n < FEW:
                shares = np.where(size > 0, sum_of / size, np.nan)
                least, most = np.nanmin(shares, axis=0), np.nanmax(shares, axis=0)
                below, above = _studentised_ends(weights, sum_of, size)
                low, high = np.fmin(low, below).clip(min=least), np.fmax(high, above).clip(max=most)
        ends[:, n_units == n] = low, high
    return ends


def _studentised_ends(weights: np.ndarray, sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The ends of `ratio_ends` by bootstrap-t, [2, column]; NaN where too many samples do not vary.

    Without any variance a sample's t is infinite, as where few units have an event: then it bounds
    nothing. The variance of a ratio is that of its linear approximation.
    """
    share = sums.sum(axis=0) / sizes.sum(axis=0)
    rest, size = sums - share * sizes, weights @ sizes
    change = (weights @ rest) / size  # of each sample's ratio
    variance = weights @ rest**2 - 2 * change * (weights @ (rest * sizes))
    variance += change**2 * (weights @ sizes**2)
    observed = (rest**2).sum(axis=0)
    varies = variance > 1e-12 * observed
    moved = np.abs(change) * sizes.sum(axis=0) > 1e-9 * np.sqrt(observed)
    t = np.where(moved, np.copysign(np.inf, change), 0.0 * change)  # NaN where no unit has any
    np.divide(change * size, np.sqrt(variance.clip(min=0)), out=t, where=varies)
    percentile = np.nanpercentile if np.isnan(t).any() else np.percentile
    ends = percentile(t, CONFIDENCE[::-1], axis=0, method="nearest")  # infinite ones have no middle
    ends = np.where(np.isinf(ends), np.nan, ends)
    return share - ends * np.sqrt(observed) / sizes.sum(axis=0)


def wilson(right: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of the share of `right` among `n`, both ends from 0 to 1."""
    from scipy import stats  # half a second, which jobs that only resample are spared

    ends = stats.binomtest(right, n).proportion_ci(confidence, method="wilson")
    return ends.low, ends.high


def count_documents(values: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Number of documents with a value that is not NaN, int [...] of values [example, ...]."""
    return np.count_nonzero(sum_by_document(np.isfinite(values), documents), axis=0)


def bootstrap_accuracy(
    correct: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy and both ends of its 95% bootstrap interval over whole units, each [..., kind].

    `correct` may be any sums over `total` items, such as differences of two models.
    All are NaN where a kind never occurs, the ends also where it occurs in one unit alone.
    """
    n = len(correct)
    shape, exact = correct.shape[1:], np.result_type(correct, np.int64)
    mean, low, high = (np.full(shape, np.nan) for _ in range(3))
    for kind in np.flatnonzero(total.sum(axis=0)):
        mean[..., kind] = correct[..., kind].sum(axis=0, dtype=exact) / total[:, kind].sum()
        sums = correct[..., kind].reshape(n, -1).astype(np.float64)
        sizes = np.broadcast_to(total[:, kind, None].astype(np.float64), sums.shape)
        ends = ratio_ends(sums, sizes, draws, seed)
        low[..., kind], high[..., kind] = ends.reshape(2, *shape[:-1])
    return mean, low, high


def random_halves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The indices of a random half of `n` units, and those of the others."""
    order = np.random.default_rng(seed).permutation(n)
    return order[: n // 2], order[n // 2 :]


def held_out(
    correct: np.ndarray, total: np.ndarray, seed: int
) -> list[tuple[tuple[int, ...], float, int]]:
    """For each kind the best head on a random half of the units, measured on the other half.

    That is its index on the axes between unit and kind, its accuracy, NaN where the kind does not
    occur in the other half, and n.
    """
    halves = random_halves(len(correct), seed)
    chosen, scored = (correct[half].sum(axis=0, dtype=np.int64) for half in halves)
    rows = []
    for kind, n in enumerate(total[halves[1]].sum(axis=0)):
        best = np.unravel_index(chosen[..., kind].argmax(), chosen.shape[:-1])
        score = scored[(*best, kind)] / n if n else np.nan
        rows.append((tuple(map(int, best)), score, int(n)))
    return rows


class Gain(NamedTuple):
    """How much more often the best head is right than the best baseline, as a share."""

    gain: float  # NaN where each division has a half that lacks the kind
    low: float  # ends of the 95% interval; NaN where fewer than four units have the kind
    high: float
    p: float  # two-sided, of no gain; NaN where the interval is


def held_out_gains(
    correct: np.ndarray, baselines: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> list[Gain]:
    """For each kind what the best head gains over the best baseline on units that chose neither.

    Both are chosen on one of `random_halves` and measured on the other, and the other way round;
    the gain is over the units of both, and the mean of DIVISIONS_OF_SAMPLE such divisions, seeded
    from `seed` on, without those where a half lacks the kind. `baselines` is
    [unit, baseline, kind], of the same predictions as `correct`. In each bootstrap sample of whole
    units they are chosen and measured anew in each division; copies of a unit stay in its half.
    Samples hold fewer distinct units, which choose less well, so they are moved by what their mean
    gain differs from `gain` (Davison and Hinkley 1997, section 5.2). `p` is twice the share of
    moved samples that have the rarer sign or are 0.
    """
    n = len(correct)
    divisions = [random_halves(n, seed + k)[0] for k in range(DIVISIONS_OF_SAMPLE)]
    weights = observed_and_resampled(n, draws, seed).astype(np.float64)  # fast, and still exact
    gains = []
    for kind in range(total.shape[1]):
        hits = [part[..., kind].reshape(n, -1).astype(np.float64) for part in (correct, baselines)]
        words, right = weights @ total[:, kind], [weights @ part for part in hits]
        summed, known = np.zeros(draws + 1), np.zeros(draws + 1, int)
        for half in divisions:
            size = weights[:, half] @ total[half, kind]  # words of the half [draw]
            one = [weights[:, half] @ part[half] for part in hits]  # [draw, head or baseline]
            other = [whole - part for whole, part in zip(right, one, strict=True)]
            in_both = (size > 0) & (size < words)
            summed += np.where(in_both, _gained(one, other) + _gained(other, one), 0)
            known += in_both
        share = summed / np.where(known > 0, known * words, np.nan)
        resampled, low, high, p = share[1:][known[1:] > 0], np.nan, np.nan, np.nan
        if known[0] and np.count_nonzero(total[:, kind]) > 3:
            resampled += share[0] - resampled.mean()
            low, high = percentile_ends(resampled, np.count_nonzero(total[:, kind]))
            beyond = min((resampled <= 0).sum(), (resampled >= 0).sum())
            p = min(1.0, 2 * (1 + beyond) / (1 + len(resampled)))
        gains.append(Gain(*map(float, (share[0], low, high, p))))
    return gains


def _gained(chosen: Sequence[np.ndarray], measured: Sequence[np.ndarray]) -> np.ndarray:
    """By how much the best head, or variant, beats the best baseline, both as `chosen`: [draw].

    Both parts are the scores of heads and those of baselines, each [draw, head or baseline].
    """
    head, baseline = (
        np.take_along_axis(score, choice.argmax(axis=1)[:, None], axis=1)[:, 0]
        for choice, score in zip(chosen, measured, strict=True)
    )
    return head - baseline
