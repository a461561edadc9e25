"""The smallest loss that would have been found, against the share of such losses that is found."""

import numpy as np
import pytest

from tests.core.test_randomisation import study
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.randomisation import OfMetric

SETS = 40


def quiet(metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, baseline and 15 variants without an effect."""
    rng = np.random.default_rng(5)
    if metric in ("accuracy", "f1", "matthews"):
        return study(150, [0.03] * 15, 0, rng)
    labels = rng.normal(size=150)
    noise = labels + rng.normal(0, 0.5, (16, 150)) * np.where(np.arange(16) < 16, 0.3, 0)[:, None]
    return labels, noise[0], noise[1:]


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews", "pearson", "spearman"])
def test_such_a_loss_is_found_and_half_of_it_is_not(metric: str) -> None:
    """In plain loops a variant is broken until it has lost so much, and the whole test is made."""
    labels, baseline, variants = quiet(metric)
    compared = OfMetric(metric, labels)
    classes = metric in ("accuracy", "f1", "matthews")
    breaks = randomisation.made_wrong(labels) if classes else randomisation.less_alike(labels)
    critical = randomisation.test(compared, baseline, variants, 1000, 1).critical
    loss = randomisation.smallest_loss(compared, baseline, variants, breaks, critical, 1)
    rng = np.random.default_rng(8)
    shares = []
    for aim in (0.5 * loss, 1.1 * loss):
        found = 0
        for number in range(SETS):
            swapped = rng.random(len(labels)) < 0.5
            chosen = variants[number % len(variants)]
            plain = np.where(swapped, chosen, baseline)
            broken = np.where(swapped, baseline, chosen)
            before = compared.observed(plain[None], broken[None])[0]
            slope = np.polyfit(labels, broken, 1)[0]
            for example in rng.permutation(len(labels)):
                if classes:
                    broken[example] = 1 - labels[example]
                else:
                    broken = broken - 0.002 * slope * labels
                if before - compared.observed(plain[None], broken[None])[0] >= aim:
                    break
            tested = randomisation.test(
                compared, plain, np.concatenate([broken[None], variants[:14]]), 1000, number
            )
            found += tested.corrected[0] < 0.05
        shares.append(found / SETS)
    assert shares[0] < 0.5
    assert shares[1] >= 0.65


def test_what_cannot_be_found() -> None:
    labels, baseline, variants = quiet("accuracy")
    compared, breaks = OfMetric("accuracy", labels), randomisation.made_wrong(labels)
    assert np.isnan(randomisation.smallest_loss(compared, baseline, variants, breaks, 0.0, 1))
    few = labels[:4], baseline[:4], variants[:, :4]  # p is at least 2 / 16
    compared = OfMetric("accuracy", few[0])
    assert np.isnan(randomisation.smallest_loss(compared, *few[1:], breaks, 0.05, 1))


def test_breaks_by_hand() -> None:
    labels = np.array([0, 1, 2, 0])
    predicted = np.array([[0, 1, 0, 2], [0, 1, 2, 0]])
    order = np.array([[0, 2, 1, 3], [1, 3, 0, 2]])
    broken = randomisation.made_wrong(labels)(predicted, order, 0.5)
    assert broken.tolist() == [[2, 1, 0, 2], [0, 0, 2, 2]]
    labels, noise = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.3, -0.3, -0.3, 0.3])
    broken = randomisation.less_alike(labels)((2 * labels + noise)[None], order[:1], 0.25)[0]
    # Noise that is linear in nothing stays; a quarter of the slope goes, around the mean.
    assert broken == pytest.approx(1.5 * labels + 0.75 + noise)
    whole = randomisation.less_alike(labels)((2 * labels + noise)[None], order[:1], 1.0)[0]
    assert np.corrcoef(whole, labels)[0, 1] == pytest.approx(0, abs=1e-6)
