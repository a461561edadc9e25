"""Tests by randomisation, corrections for several tests, and how small a loss a test finds."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.metrics import SUMS, weighted_scores

log = logging.getLogger(__name__)

LEVEL = 0.05  # of the corrected p-values
THRESHOLDS, PRECISE = (0.01, LEVEL), 0.1  # of corrected p-values; their error near these, a share
MOST_DRAWN = 1 << 23  # draws times variants: p-values become no more precise than in some 300 MB
TOLERANCE = 1e-9  # effects that are equal up to rounding count as equally large
CORRELATIONS = ("pearson", "spearman")  # do not change with the scale of predictions
CELLS = 1 << 19  # examples times draws that are swapped at once: intermediate results stay small
BLOCK = 200  # draws of matched sets at a time, which bounds memory
MOST_SWAPS = 1 << 15  # different outcomes of all swaps, up to which a variant's test is exact
MOST_UNITS = 32  # whose signs are flipped: two halves of 65,536 sums each

POWER = 0.8  # share of the losses of this size that are to be found
SIMULATED = 100  # variants for each size of loss
POWER_DRAWS = 2000  # swap sets for the p-value of each
LEAST = 1e-4  # degree of breaking from which on the smallest one is searched
POWER_STEPS = 11  # halvings of the interval, on a logarithmic scale: to 0.5% of the degree

# Makes predictions [variant, example, ...] worse to a degree from 0 to 1; where only some examples
# are hit, in the given order [variant, example].
Break = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


# Sizes of effects where nothing but chance is at work, and the probability of each.
Distribution = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class OfSums:
    """A score of sums over examples, such as a mean, or BLEU from the counts of each sentence.

    `summands` makes [statistic, variant, example] of predictions, `score` the score [...] of their
    sums [statistic, ...]. Variants are [variant, example, ...]; the baseline [1, example, ...], or
    one for each variant.
    """

    summands: Callable[[np.ndarray], np.ndarray]
    score: Callable[[np.ndarray], np.ndarray]

    def observed(self, baseline: np.ndarray, variants: np.ndarray) -> np.ndarray:
        """Score of each variant minus its baseline's, [variant]."""
        return self.score(_sum(self.summands(variants))) - self.score(_sum(self.summands(baseline)))

    def swapped(
        self, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
    ) -> np.ndarray:
        """Score differences with the predictions of random examples swapped, [draw, variant]."""
        of_baseline, of_variants = self.summands(baseline), self.summands(variants)
        gained = of_variants - of_baseline
        # Sums of small integers are exact in single precision, in which products take half as long.
        kind = np.float32 if np.issubdtype(gained.dtype, np.integer) else np.float64
        moving = [(at, part.T.astype(kind)) for at, part in enumerate(gained) if part.any()]
        before, after = _sum(of_baseline)[:, None], _sum(of_variants)[:, None]
        effects = []
        for swaps in swap_sets(gained.shape[-1], draws, seed):
            moved = np.zeros((len(gained), len(swaps), gained.shape[1]))
            for statistic, gains in moving:
                moved[statistic] = swaps.astype(kind) @ gains
            effects.append(self.score(after - moved) - self.score(before + moved))
        return np.concatenate(effects)

    def exact(self, baseline: np.ndarray, variants: np.ndarray) -> list[Distribution | None]:
        """Each variant's effects of all swaps; None where there are more than MOST_SWAPS.

        Examples that change the sums alike are told apart by how many of them are swapped alone.
        """
        from scipy.special import gammaln  # only jobs that test load it

        of_baseline, of_variants = self.summands(baseline), self.summands(variants)
        gained = of_variants - of_baseline
        before, after = _sum(of_baseline), _sum(of_variants)
        before = np.broadcast_to(before, after.shape)
        found: list[Distribution | None] = []
        for at in range(gained.shape[1]):
            changed = gained[:, at, gained[:, at].any(axis=0)]
            kinds, counts = np.unique(changed, axis=1, return_counts=True)
            if np.log1p(counts).sum() > np.log(MOST_SWAPS):
                found.append(None)
                continue
            swapped = np.indices(counts + 1).reshape(len(counts), np.prod(counts + 1))
            moved = kinds @ swapped
            one, other = after[:, at, None] - moved, before[:, at, None] + moved
            rest = counts[:, None] - swapped
            ways = gammaln(counts + 1)[:, None] - gammaln(swapped + 1) - gammaln(rest + 1)  # log
            shares = np.exp(ways.sum(axis=0) - counts.sum() * np.log(2))
            found.append((np.abs(self.score(one) - self.score(other)), shares))
        return found


@dataclass(frozen=True)
class OfMetric:
    """A metric of labels [example] and predictions, with the methods of OfSums.

    Scores for a correlation are standardised before they are swapped: it does not depend on their
    scale, and vectors mixed of two scales would hide a difference.
    """

    metric: str
    labels: np.ndarray

    def observed(self, baseline: np.ndarray, variants: np.ndarray) -> np.ndarray:
        once = np.ones((1, len(self.labels)))
        after, before = (
            weighted_scores(self.metric, self.labels, predictions, once)[0]
            for predictions in (variants, baseline)
        )
        return after - before

    def swapped(
        self, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
    ) -> np.ndarray:
        # By sums where the metric has them; Spearman's by ranks or, with ties, by weights.
        if self.metric in CORRELATIONS:
            baseline, variants = (_standardised(scores) for scores in (baseline, variants))
        if self.metric in SUMS:
            statistics, score = SUMS[self.metric]
            of_sums = OfSums(partial(statistics, self.labels), score)
            return of_sums.swapped(baseline, variants, draws, seed)
        pairs = list(zip(np.broadcast_to(baseline, variants.shape), variants, strict=True))
        gains = [rank_gains(self.labels, *pair) for pair in pairs]
        parts = []
        for swaps in swap_sets(len(self.labels), draws, seed):
            signs = np.where(swaps, -1.0, 1.0)
            effects = [
                self._mixed(*pair, swaps) if gain is None else signs @ gain
                for pair, gain in zip(pairs, gains, strict=True)
            ]
            parts.append(np.stack(effects, axis=1))
        return np.concatenate(parts)

    def exact(self, baseline: np.ndarray, variants: np.ndarray) -> list[Distribution | None]:
        if self.metric in CORRELATIONS:  # every example changes the sums in its own way
            return [None] * len(variants)
        statistics, score = SUMS[self.metric]
        return OfSums(partial(statistics, self.labels), score).exact(baseline, variants)

    def _mixed(self, baseline: np.ndarray, variant: np.ndarray, swaps: np.ndarray) -> np.ndarray:
        """Effects [draw] of swaps: what a mixed vector holds weighs 1, the rest 0."""
        labels, both = np.tile(self.labels, 2), np.concatenate([baseline, variant])[None]
        of_variant, of_baseline = (
            weighted_scores(self.metric, labels, both, np.hstack([~inside, inside]))[:, 0]
            for inside in (~swaps, swaps)
        )
        return of_variant - of_baseline


Compared = OfSums | OfMetric  # how variants are compared with a baseline


def swap_sets(n: int, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Random sets of `n` examples, bool [some draws, example]: each example with probability 1/2.

    The sets depend on `n`, `draws` and `seed` alone.
    """
    packed = np.random.default_rng(seed).integers(0, 256, (draws, -(-n // 8)), dtype=np.uint8)
    step = max(1, CELLS // n)
    for start in range(0, draws, step):
        yield np.unpackbits(packed[start : start + step], axis=1, count=n).astype(bool)


def rank_gains(labels: np.ndarray, baseline: np.ndarray, variant: np.ndarray) -> np.ndarray | None:
    """What each example adds to Spearman's effect, or takes from it where swapped, [example].

    None where different examples have equal predictions. Without such ties the ranks of both mixed
    vectors have the same spread, and the effect is linear in what is swapped: of all values up to
    some value, those that are not in the one vector are in the other.
    """
    n = len(labels)
    values = np.concatenate([baseline, variant])
    order = values.argsort(kind="stable")
    example = order % n
    if ((np.diff(values[order]) == 0) & (np.diff(example) != 0)).any():
        return None
    _, index, counts = np.unique(labels, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - (counts - 1) / 2)[index] - (n + 1) / 2  # centred mid-ranks
    spread = np.sqrt((ranks**2).sum() * (n**3 - n) / 12)
    if spread == 0:
        return np.zeros(n)
    of_value = np.empty(2 * n)
    ranks = ranks[example]
    of_value[order] = ranks[::-1].cumsum()[::-1] + ranks * np.arange(1, 2 * n + 1)
    return (of_value[n:] - of_value[:n]) / (2 * spread)


def _standardised(scores: np.ndarray) -> np.ndarray:
    """Scores [variant, example] with mean 0 and standard deviation 1; 0 where all are equal."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    varies = np.ptp(scores, axis=1, keepdims=True) > 0
    return np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)


def _sum(statistics: np.ndarray) -> np.ndarray:
    return statistics.sum(axis=-1, dtype=np.float64)


@dataclass(frozen=True)
class Test:
    """Two-sided p-values [variant], alone and corrected for all variants; the critical p-value.

    `error` is the standard error of `corrected` that the number of draws leaves: that of a share of
    draws, and what the error of a drawn p moves it by. One more variant
    would be significant among these if its p-value alone were at most `critical`.
    """

    p: np.ndarray
    corrected: np.ndarray
    error: np.ndarray
    critical: float

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """What tables hold of it."""
        return {"p": self.p, "p_corrected": self.corrected, "p_corrected_error": self.error}


def test(
    compared: Compared, baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int
) -> Test:
    """The test that variants [variant, example, ...] score as the baseline [example, ...] does.

    A variant that changes no prediction has p = 1. The p-value of one that changes few is exact.
    With `draws`, or as many more as `precise` takes.
    """
    if 1 + len(variants) >= LEVEL * (1 + draws):
        # Each variant has its own largest draw, so about as many draws have the smallest p.
        log.warning(
            "%d permutations are too few for %d variants: even the largest effect may have a"
            " corrected p above %g; set permutations to %d",
            *(draws, len(variants), LEVEL, 100 * (1 + len(variants))),
        )
    both = baseline[None], variants
    observed, exact = compared.observed(*both), compared.exact(*both)
    return precise(
        lambda drawn: smallest_p(observed, compared.swapped(*both, drawn, seed), exact),
        draws,
        len(variants),
    )


def precise(tested: Callable[[int], Test], draws: int, n_variants: int) -> Test:
    """The test `tested` with `draws`, or as many as make undecided corrected p-values precise.

    Undecided is one that is less than two errors from one of THRESHOLDS, and precise where its
    error is at most PRECISE of it. No more draws are taken than MOST_DRAWN allows.
    """
    while True:
        found = tested(draws)
        distance = np.abs(found.corrected[:, None] - THRESHOLDS).min(axis=1)
        short = found.error / (PRECISE * found.corrected)
        short = short[(distance < 2 * found.error) & (short > 1)]
        more = min(int(draws * short.max(initial=1) ** 2) + 1, MOST_DRAWN // n_variants)
        if not len(short) or more <= draws:
            return found
        draws = more


def smallest_p(
    effects: np.ndarray, null_effects: np.ndarray, exact: Sequence[Distribution | None] = ()
) -> Test:
    """The p-values of effects [variant] among those of no effect, `null_effects` [draw, variant].

    p is the share of draws, the observed one among them, whose effect is at least as large either
    way; that of all possible draws where a variant's `exact` distribution is known. Variants whose
    exact p-values are equal then tie, where shares of draws would break the tie by chance. p is
    corrected by the smallest p of all variants in a draw, step-down (Westfall and Young
    1993, algorithm 2.8): each variant is compared with the smallest p of itself and of those that
    are less significant.
    """
    sizes = np.abs(np.concatenate([effects[None], null_effects]))
    p, same = np.empty_like(sizes), np.full(len(sizes), 1 / len(sizes))
    for column, size in enumerate(sizes.T):
        known = exact[column] if len(exact) else None
        values, shares = (size, same) if known is None else known
        by_size = size.argsort()  # ascending sizes are found several times faster
        ascending = by_size if known is None else values.argsort()
        at_least = shares[ascending[::-1]].cumsum()[::-1]
        found = np.searchsorted(values[ascending], size[by_size] - TOLERANCE)
        p[by_size, column] = at_least[found]
    p = p.clip(max=1)
    order = p[0].argsort(kind="stable")
    smallest = np.minimum.accumulate(p[:, order[::-1]], axis=1)[:, ::-1]
    own = p[0, order]
    drawn = np.array([not len(exact) or exact[column] is None for column in order])
    spread = np.where(drawn, np.sqrt(own * (1 - own) / len(sizes)), 0)
    below, shares, above = (
        (smallest <= own + moved + TOLERANCE).mean(axis=0) for moved in (-spread, 0, spread)
    )
    shares = np.maximum(shares, own)
    errors = np.hypot(np.sqrt(shares * (1 - shares) / len(sizes)), (above - below) / 2)
    corrected, error = np.empty_like(shares), np.empty_like(shares)
    corrected[order] = np.maximum.accumulate(shares)
    largest = np.where(shares >= corrected[order], np.arange(len(shares)), 0)
    error[order] = errors[np.maximum.accumulate(largest)]
    return Test(p[0], corrected, error, _critical(smallest[:, 0]))


def _critical(least: np.ndarray) -> float:
    """The largest x for which a draw seldom has a p up to x, given the smallest p of each draw.

    One more variant has a p up to x in a share x of the draws: together, less than LEVEL.
    """
    values, counts = np.unique(least, return_counts=True)
    below = np.concatenate([[0], counts.cumsum()[:-1]]) / len(least)
    x = np.minimum(values, LEVEL - below) - TOLERANCE
    return float(x[x > np.concatenate([[0.0], values[:-1]])].max(initial=0.0))


def sign_flip_p(differences: np.ndarray) -> np.ndarray:
    """Two-sided p-values [variant] of differences [unit, variant] of up to MOST_UNITS units.

    Where neither member of a pair tends to be larger, a difference is as likely with the other
    sign. p is the share of all 2^n assignments of signs whose sum is at least as large either way
    (Fisher 1935, section 21). The sums of both halves of the units are combined, not written out.
    """
    n = len(differences)
    least = np.abs(differences.sum(axis=0)) - TOLERANCE
    halves = (differences[: n // 2], differences[n // 2 :])
    one, other = (np.sort(_signs(len(half)) @ half, axis=0) for half in halves)
    p = np.ones(len(least))
    for variant, bound in enumerate(least):
        if bound > 0:
            below = np.searchsorted(other[:, variant], bound - one[:, variant])
            p[variant] = 2 * (len(other) - below).sum() / 2.0**n
    return p.clip(max=1)


def sign_flips(differences: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """`sign_flip_p` of any number of units: with more than MOST_UNITS, of `draws` random signs.

    The observed signs then count as one more draw.
    """
    n, n_variants = differences.shape
    if n <= MOST_UNITS:
        return sign_flip_p(differences)
    least, reached = np.abs(differences.sum(axis=0)) - TOLERANCE, np.zeros(n_variants)
    for swaps in swap_sets(n, draws, seed):
        reached += (np.abs((1.0 - 2 * swaps) @ differences) >= least).sum(axis=0)
    return (1 + reached) / (1 + draws)


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


def matched_p_values(
    sets: Sequence[np.ndarray], weights: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values of the first members' mean excess, and the same corrected for all heads.

    A set is [member, family, head], of two members or more, and its excess the first member's value
    minus the mean of the others; `weights` [set] are the sets' shares of the mean. The p-values
    [family, head] are corrected for the heads of a family by the smallest p of each draw.
    """
    n_members = np.array([len(values) for values in sets])
    excess = np.concatenate([excesses(values) for values in sets])
    excess *= np.repeat(weights, n_members)[:, None, None]
    first = n_members.cumsum() - n_members
    observed = excess[first].sum(axis=0)
    flat, parts = excess.reshape(len(excess), -1), []
    for members in sampled_members(n_members, draws, seed):
        chosen = np.zeros((len(members), len(flat)))  # 1 for the members that are chosen
        np.put_along_axis(chosen, first + members, 1.0, axis=1)
        parts.append(chosen @ flat)
    sampled = np.concatenate(parts).reshape(draws, *observed.shape)
    tests = [smallest_p(observed[k], sampled[:, k]) for k in range(len(observed))]
    return np.stack([test.p for test in tests]), np.stack([test.corrected for test in tests])


def excesses(values: np.ndarray) -> np.ndarray:
    """Each member's value minus the mean of the other members, float64 [member, ...]."""
    values = values.astype(np.float64)
    others = (values.sum(axis=0) - values) / (len(values) - 1)
    return values - others


def sampled_members(n_members: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """The member that each set chooses in each draw, int [draw, set], in blocks of draws."""
    rng = np.random.default_rng(seed)
    for start in range(0, draws, BLOCK):
        yield rng.integers(0, n_members, size=(min(BLOCK, draws - start), len(n_members)))


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
    Test). NaN where it would not be found even if broken altogether.

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
        sizes = np.abs(compared.swapped(before, broken, POWER_DRAWS, seed))
        p = (sizes >= np.abs(effects) - TOLERANCE).mean(axis=0)
        return ((p <= critical) & (effects < 0)).mean(), -effects.mean()

    found, loss = measured(1.0) if critical > 0 else (0.0, 0.0)
    if found < POWER:
        return float("nan")
    low, high = np.log(LEAST), 0.0
    for _ in range(POWER_STEPS):
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


def best_above_baseline(frame: pd.DataFrame, of: str) -> pd.Series:
    """Whether a row is the best of its `of`, and above its baseline by more than chance, bool.

    A row is a head at one thing, such as a relation; `accuracy`, `ci_low` and `ci_high` (95%) are
    its share of `n` words, `baseline` that of a rule on the same words. The gain's normal interval,
    with the baseline's own binomial error and corrected for all rows (Bonferroni), is above 0.
    """
    normal = NormalDist()
    best = frame.groupby(of)["accuracy"].transform("max") == frame["accuracy"]
    z = normal.inv_cdf(1 - LEVEL / 2 / len(frame))
    error = (frame["ci_high"] - frame["ci_low"]) / (2 * normal.inv_cdf(1 - LEVEL / 2))
    chance = frame["baseline"] * (1 - frame["baseline"]) / frame["n"]
    return best & (frame["accuracy"] - frame["baseline"] > z * np.sqrt(error**2 + chance))
