"""Agreement without shared noise: against a plain version, and by simulation."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from workflow_scripts.core.stats import agreement, bootstrap
from workflow_scripts.core.stats.agreement import Halves, of_halves, ranked_halves


def ranked(effects: np.ndarray, draws: int, seed: int = 1) -> Halves:
    """The halves of mean effects [text, variant] over texts."""
    with_baseline = np.concatenate([np.zeros((len(effects), 1)), effects], 1)
    means = lambda weights: weights @ with_baseline / weights.sum(1, keepdims=True)  # noqa: E731
    return ranked_halves(means, len(effects), draws, seed)


def test_agreement_against_a_plain_version() -> None:
    rng = np.random.default_rng(0)
    n, draws, seed = 9, 20, 3
    true, shared = rng.normal(size=(2, 30)) * 3, rng.normal(size=(n, 30))
    effects = [each + shared + rng.normal(size=(n, 30)) for each in (true[0], true.sum(0))]
    found = of_halves(*(ranked(each, draws, seed) for each in effects), n)

    def plain(weights: np.ndarray, seeds: list[int]) -> np.ndarray:
        """Across halves, and of each set's own halves: [3, draw], means over divisions."""
        sums = np.zeros((3, len(weights)))
        for at in seeds:
            parts = bootstrap.on_halves(lambda half: half, weights, at)
            for draw, halves in enumerate(zip(*parts, strict=True)):
                assert not (halves[0] * halves[1]).any()  # they share no text
                (a, b), (c, d) = (
                    [np.average(each, axis=0, weights=half) for each in effects] for half in halves
                )
                pairs = ((a, d), (b, c)), ((a, c),), ((b, d),)
                sums[:, draw] += [np.mean([spearmanr(*two).statistic for two in p]) for p in pairs]
        return sums / len(seeds)

    observed = plain(np.ones((agreement.DIVISIONS, n), int), [seed]).mean(1)
    weights = bootstrap.bootstrap_weights(n, draws, seed)
    sampled = plain(weights, [seed + 1 + k for k in range(bootstrap.DIVISIONS_OF_SAMPLE)])
    assert found["rho"] == pytest.approx(observed[0] / np.sqrt(observed[1] * observed[2]))
    assert (sampled[1:] > 0).all()
    values = np.clip(sampled[0] / np.sqrt(sampled[1] * sampled[2]), -1, 1)
    assert found["rho_low"] == pytest.approx(np.percentile(values, 2.5))
    assert found["rho_high"] == pytest.approx(np.percentile(values, 97.5))
    assert found["reliability_one"] == pytest.approx(2 * observed[1] / (1 + observed[1]))
    assert found["reliability_other"] == pytest.approx(2 * observed[2] / (1 + observed[2]))
    assert not found["too_noisy"]


def test_texts_needed_by_hand() -> None:
    assert agreement.of_all(0.5) == pytest.approx(2 / 3)
    assert agreement.of_all(-0.5) == 0
    assert agreement.n_needed(0.1, 100) == 386  # 100 (3 / 7) (9 / 1) = 385.7
    assert agreement.n_needed(0.3, 50) == pytest.approx(50, abs=1)
    assert np.isnan(agreement.n_needed(0, 50))


def test_a_half_without_an_order_has_no_correlation() -> None:
    alike = ranked(np.ones((6, 4)), 100)
    assert (agreement.across(alike, alike) == 0).all()
    found = of_halves(alike, alike, 6)
    assert found["too_noisy"] and np.isnan([found["rho"], found["n_needed"]]).all()


def test_a_sample_whose_halves_disagree_could_have_any_correlation() -> None:
    # Two texts: in half of the samples both are the same one, and a half is empty.
    effects = np.arange(5.0) + np.array([[0.0], [0.1]])
    found = of_halves(ranked(effects, 100), ranked(effects, 100), 2)
    assert (found["rho"], found["rho_low"], found["rho_high"]) == (1, -1, 1)


RHO, DOCUMENTS, HEADS = 0.45, 19, 72


def sample(reliability: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Effects [mode, document, head] whose noise is mostly shared, and the true ones' correlation.

    The true effects are correlated by exactly RHO, that between ranks is about the same.
    """
    true = rng.normal(size=(HEADS, 2))
    true, _ = np.linalg.qr(true - true.mean(0))
    true = np.sqrt(HEADS) * np.stack([true[:, 0], true @ (RHO, np.sqrt(1 - RHO**2))])
    noise = rng.normal(size=(2, DOCUMENTS, HEADS)) * np.sqrt(0.2)
    noise += rng.normal(size=(DOCUMENTS, HEADS)) * np.sqrt(0.8)
    effects = np.sqrt(reliability) * true[:, None]
    effects = effects + np.sqrt((1 - reliability) * DOCUMENTS) * noise
    return effects, spearmanr(*true).statistic


def test_intervals_cover_the_true_correlation_where_noise_is_shared() -> None:
    rng, inside, values, same = np.random.default_rng(0), [], [], []
    for _ in range(60):
        effects, truth = sample(0.55, rng)
        found = of_halves(*(ranked(each, 200) for each in effects), DOCUMENTS)
        inside.append(found["rho_low"] <= truth <= found["rho_high"])
        values.append(found["rho"])
        same.append(spearmanr(*effects.mean(1)).statistic)
    assert np.mean(inside) >= 0.9  # one that is too noisy is not inside
    assert np.nanmean(values) == pytest.approx(RHO, abs=0.05)
    assert np.mean(same) > RHO + 0.1  # on the same documents noise adds to it


def test_effects_of_noise_alone_are_too_noisy() -> None:
    rng = np.random.default_rng(0)
    found = [
        of_halves(*(ranked(each, 100) for each in sample(0, rng)[0]), DOCUMENTS)["too_noisy"]
        for _ in range(40)
    ]
    assert np.mean(found) >= 0.95
