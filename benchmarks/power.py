"""How often three tests of heads err, and what they find: simulations with a known truth.

Made-up heads change random predictions of a baseline that is right in 80%, as often for the better
as for the worse; in some scenarios one of them, or half of them, lose points instead. Compared are
the paired randomisation test with min-P, McNemar's exact test with Holm's correction, and bootstrap
differences over their standard error with single-step max-T.
"""

from dataclasses import dataclass

import numpy as np
from common import arguments, report
from scipy.stats import binomtest

from workflow_scripts.core.stats import bootstrap, randomisation
from workflow_scripts.core.stats.metrics import weighted_scores
from workflow_scripts.core.stats.randomisation import OfMetric

LEVEL = 0.05
DRAWS = 3000  # twenty for each head of the largest scenario, the fewest that min-P can do with
RIGHT = 0.8  # accuracy of the baseline


@dataclass(frozen=True)
class Scenario:
    """Examples, the shares of predictions that each head changes, and points that some lose."""

    name: str
    n: int
    flips: tuple[float, ...]
    loss: float
    metric: str = "accuracy"
    losing: int = 1  # the first heads lose, where there is a loss


def heads(number: int, *shares: float) -> tuple[float, ...]:
    """So many heads, sharing out the shares of predictions that they change."""
    return tuple(np.resize(shares, number))


SCENARIOS = [
    *(
        Scenario(f"{loss or 'no'} loss, {title} changed", n, heads(72, *shares), loss)
        for loss, n in ((4, 200), (4, 400), (0, 200), (0, 400))
        for title, shares in (
            ("0.5%", (0.005,)),
            ("0.5 or 12%", (0.005, 0.12)),
            ("10%", (0.1,)),
        )
    ),
    Scenario("4 loss, 0.5% changed, 144 heads", 400, heads(144, 0.005), 4),
    *(
        Scenario(f"half lose 4, {100 * share:g}% changed", n, heads(60, share), 4, losing=30)
        for share in (0.005, 0.1)
        for n in (400, 800)
    ),
    Scenario("no loss, 3% changed, F1", 200, heads(72, 0.03), 0, "f1"),
    Scenario("no loss, scores of other scale, Pearson", 200, heads(72, 0.3), 0, "pearson"),
    Scenario("no loss, scores of other scale, Spearman", 200, heads(72, 0.3), 0, "spearman"),
]


def simulated(
    scenario: Scenario, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels [example], the baseline's predictions, and the heads' [head, example].

    In the scenarios of correlations heads add noise of a share of the labels' spread, as the
    baseline has it, and have a scale of their own. Heads that lose change nothing else.
    """
    flips = np.array(scenario.flips)[:, None]
    if scenario.metric in ("pearson", "spearman"):
        labels = rng.normal(size=scenario.n)
        noise = flips * rng.normal(size=(len(flips) + 1, scenario.n))[1:]
        scale = rng.uniform(0.5, 2, flips.shape)
        own = flips[0] * rng.normal(size=scenario.n)
        common = 0.5 * rng.normal(size=scenario.n)
        return labels, labels + common + own, scale * (labels + common + noise) + 1
    labels = rng.integers(0, 2, scenario.n)
    baseline = np.where(rng.random(scenario.n) < RIGHT, labels, 1 - labels)
    rates = flips / 2 / np.where(baseline == labels, RIGHT, 1 - RIGHT)
    variants = np.where(rng.random(rates.shape) < rates, 1 - baseline, baseline)
    for losing in range(scenario.losing if scenario.loss else 0):
        variants[losing] = baseline
        right = np.flatnonzero(baseline == labels)
        lost = rng.choice(right, round(scenario.loss / 100 * scenario.n), replace=False)
        variants[losing, lost] = 1 - labels[lost]
    return labels, baseline, variants


def min_p(metric: str, made: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> np.ndarray:
    """Corrected p-values of the randomisation test."""
    labels, baseline, variants = made
    return randomisation.test(OfMetric(metric, labels), baseline, variants, DRAWS, seed).corrected


def max_t(metric: str, made: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> np.ndarray:
    """Bootstrap differences over their standard error, corrected by the largest of a sample."""
    labels, baseline, variants = made
    weights = bootstrap.observed_and_resampled(len(labels), DRAWS, seed)
    scores = weighted_scores(metric, labels, np.vstack([baseline[None], variants]), weights)
    effects = scores[:, 1:] - scores[:, :1]
    spread = effects[1:].std(axis=0)
    varies = spread > 1e-12
    spread = np.where(varies, spread, 1.0)
    size = np.where(varies, np.abs(effects[0]) / spread, 0.0)
    centred = np.where(varies, np.abs(effects[1:] - effects[0]) / spread, 0.0)
    beyond = centred.max(axis=1, keepdims=True) >= size - 1e-9
    return np.where(varies, (1 + beyond.sum(axis=0)) / (1 + DRAWS), 1.0)


def mcnemar(metric: str, made: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> np.ndarray:
    """McNemar's exact test, corrected by Holm."""
    labels, baseline, variants = made
    worse = ((baseline == labels) & (variants != labels)).sum(axis=1)
    better = ((baseline != labels) & (variants == labels)).sum(axis=1)
    pairs = zip(worse.tolist(), better.tolist(), strict=True)
    p = np.array([binomtest(w, w + b).pvalue if w + b else 1.0 for w, b in pairs])
    order = p.argsort()
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return corrected.clip(max=1)


TESTS = {"min-P": min_p, "McNemar, Holm": mcnemar, "max-T": max_t}


def main() -> None:
    """Print how often, in percent, each test finds a head that loses, and errs about the others."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, help="simulations of each scenario")
    options = parser.parse_args()
    sets = options.sets or (1000 if options.full else 100)
    print(f"| scenario | examples | heads | {' | '.join(TESTS)} |")
    print("| --- | --- | --- |" + " --- |" * len(TESTS))
    shares = {}
    for scenario in SCENARIOS:
        tests = dict(TESTS)
        if scenario.metric != "accuracy":
            del tests["McNemar, Holm"]
        rng = np.random.default_rng(1)
        losing = scenario.losing if scenario.loss else 0
        found, erred = dict.fromkeys(tests, 0.0), dict.fromkeys(tests, 0.0)
        for seed in range(sets):
            made = simulated(scenario, rng)
            for name, test in tests.items():
                significant = test(scenario.metric, made, seed) < LEVEL
                found[name] += significant[:losing].mean() / sets if losing else 0.0
                erred[name] += significant[losing:].any() / sets
        cells = [
            (f"{100 * found[name]:.0f}, " if losing else "") + f"{100 * erred[name]:.0f}"
            if name in tests
            else ""
            for name in TESTS
        ]
        row = [scenario.name, str(scenario.n), str(len(scenario.flips)), *cells]
        print(f"| {' | '.join(row)} |", flush=True)
        shares[f"{scenario.name}, n = {scenario.n}"] = {"found": found, "erred": erred}
    report("power", None, sets=sets, draws=DRAWS, shares=shares)


if __name__ == "__main__":
    main()
