"""Numbers over seeds: their interval by hand, and how often it covers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workflow_scripts.claims.numbers import OVER_SEEDS, over_seeds


def test_an_interval_over_examples_and_seeds_by_hand() -> None:
    """Three seeds of deviation 1, each +- 2 over examples: 4.303 / 3**0.5 = 2.484."""
    rows = pd.DataFrame({"seed": [1, 2, 3], "effect": [0.0, 1.0, 2.0], "n": 90})
    rows = rows.assign(ci_low=rows["effect"] - 2, ci_high=rows["effect"] + 2)
    number = over_seeds(rows, "effect", task="sst2")
    assert (number.value, number.seeds, number.interval) == (1, 3, OVER_SEEDS)
    half = (2**2 + 2.484**2) ** 0.5
    assert [number.low, number.high] == pytest.approx([1 - half, 1 + half], abs=1e-3)
    one = over_seeds(rows.iloc[:1], "effect", 100)
    assert (one.low, one.value, one.high, one.interval) == (-200, 0, 200, "")


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3])
def test_it_covers_with_three_seeds(spread: float) -> None:
    """The seeds' intervals alone cover .47 where their spread is .3; resampling both, .81."""
    rng, k, n, draws = np.random.default_rng(1), 3, 400, 400
    covered = 0
    for _ in range(draws):
        of_seeds, of_examples = rng.normal(0, spread, (k, 1)), rng.normal(size=(1, n))
        sample = of_seeds + of_examples + rng.normal(0, 0.5, (k, n))
        rows = pd.DataFrame({"seed": range(k), "effect": sample.mean(axis=1), "n": n})
        half = stats.norm.ppf(0.975) * sample.std(axis=1, ddof=1) / n**0.5
        rows = rows.assign(ci_low=rows["effect"] - half, ci_high=rows["effect"] + half)
        number = over_seeds(rows, "effect")
        covered += number.low <= 0 <= number.high
    assert covered / draws >= 0.93
