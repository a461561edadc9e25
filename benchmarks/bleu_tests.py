"""How often two tests of heads err on BLEU, and what they find: simulations with a known truth.

Made-up heads change the translations of some sentences; in a scenario with a loss the first one
puts worse ones there. Compared are the paired randomisation test with min-P on BLEU and the paired
bootstrap (Koehn 2004) at 0.01, without correction for the number of heads.
"""

from dataclasses import dataclass

import numpy as np
from common import arguments, report

from tests.translation.made_up_sweeps import changed, references
from workflow_scripts.core.stats import bootstrap, randomisation
from workflow_scripts.core.stats.randomisation import OfSums
from workflow_scripts.core.stats.translation_metrics import METRICS, scores_of, statistics
from workflow_scripts.translation.translation_scores import paired_bootstrap

HEADS = 72
DRAWS = 3000
LEVEL = 0.05  # of corrected p-values
PAPERS_LEVEL = 0.01
RENDERINGS = 10  # of each sentence, from which translations are sampled
WRONG, WORSE = 0.2, 0.3  # shares of words that are wrong, usually and where a head loses


@dataclass(frozen=True)
class Scenario:
    """Sentences, the share of them that each head changes, and whether the first one loses."""

    n: int
    share: float
    loses: bool


SCENARIOS = [
    Scenario(n, share, loses)
    for loses in (False, True)
    for n in (200, 500)
    for share in (0.05, 0.3)
]


def renderings(n: int, wrong: float, rng: np.random.Generator) -> np.ndarray:
    """BLEU's statistics of translations with a share of wrong words, [rendering, sentence, 10]."""
    truth = references(n, 1)
    made = [statistics(changed(truth, wrong, rng), truth) for _ in range(RENDERINGS)]
    return np.stack(made)[:, :, : len(METRICS["bleu"].columns)]


def simulated(scenario: Scenario, pools: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Statistics [1 + head, sentence, 10]: the baseline, and heads that change some sentences.

    What a head puts there is sampled as the baseline's translations are, except where it loses.
    """
    sentences = np.arange(scenario.n)
    sampled = rng.integers(0, RENDERINGS, (1 + HEADS, scenario.n))
    changes = rng.random((HEADS, scenario.n)) < scenario.share
    sampled[1:] = np.where(changes, sampled[1:], sampled[0])
    rows = pools[0][sampled, sentences]
    if scenario.loses:
        lost = changes[0]
        rows[1, lost] = pools[1][sampled[1, lost], sentences[lost]]
    return rows


def main() -> None:
    """Print a table: in how many percent of the simulations each test finds the loss, or errs."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, help="simulations of each scenario")
    options = parser.parse_args()
    sets = options.sets or (1000 if options.full else 100)
    compared = OfSums(lambda rows: np.moveaxis(rows, 2, 0), METRICS["bleu"].score)
    print("| scenario | sentences | mean loss, BLEU | min-P, 0.05 | paired bootstrap, 0.01 |")
    print("| --- | --- | --- | --- | --- |")
    shares = {}
    for scenario in SCENARIOS:
        rng = np.random.default_rng(1)
        pools = [renderings(scenario.n, wrong, rng) for wrong in (WRONG, WORSE)]
        found, lost = {"min-P": 0, "paired bootstrap": 0}, []
        for seed in range(sets):
            rows = simulated(scenario, pools, rng)
            corrected = randomisation.test(compared, rows[0], rows[1:], DRAWS, seed).corrected
            weights = bootstrap.observed_and_resampled(scenario.n, 1000, seed)
            scores = scores_of("bleu", rows, weights)
            effects = scores[:, 1:] - scores[:, :1]
            papers = paired_bootstrap(effects)
            lost.append(-effects[0, 0])
            for name, significant in (
                ("min-P", corrected < LEVEL),
                ("paired bootstrap", papers < PAPERS_LEVEL),
            ):
                # Of a true loss it counts whether its head is found, else whether any is.
                found[name] += significant[0] if scenario.loses else significant.any()
        name = f"{'one head loses' if scenario.loses else 'no loss'}, {scenario.share:.0%} changed"
        loss = f"{np.mean(lost):.1f}" if scenario.loses else "0"
        cells = [f"{100 * number / sets:.0f}" for number in found.values()]
        print(f"| {' | '.join([name, str(scenario.n), loss, *cells])} |", flush=True)
        shares[f"{name}, n = {scenario.n}"] = {k: float(v) / sets for k, v in found.items()}
    report("bleu_tests", None, sets=sets, draws=DRAWS, heads=HEADS, shares=shares)


if __name__ == "__main__":
    main()
