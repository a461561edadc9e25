"""Numbers over seeds: their interval by hand, and how often it covers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workflow_scripts.claims.numbers import OVER_SEEDS, over_seeds, over_units


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


@pytest.mark.parametrize("spread", [0.0, 0.3])
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


def rows_of(values: np.ndarray) -> pd.DataFrame:
    """A row, as of one head, with the sums and counts of values [unit], NaN where there is none."""
    known = np.isfinite(values)
    lists = {"sums": [np.where(known, values, 0)], "counts": [known.astype(float)]}
    return pd.DataFrame(lists | {"n": known.sum()})


@pytest.mark.parametrize("compared", ["less", "over"])
def test_means_of_which_some_units_lack_one_are_compared_by_unit(compared: str) -> None:
    """Both rise and fall with their unit; a third of the units lack the first."""
    rng, n, truth = np.random.default_rng(1), 24, {"less": 1, "over": 1.5}
    covered, widths = [], []
    for _ in range(400):
        shared = rng.normal(0, 0.4, n)
        one, other = 3 + shared + rng.normal(0, 0.1, n), 2 + shared + rng.normal(0, 0.1, n)
        one[rng.random(n) < 1 / 3] = np.nan
        rows = rows_of(one), rows_of(other)
        number = over_units(rows[0], "units", **{compared: rows[1]})
        covered.append(number.low <= truth[compared] <= number.high)
        ends = [over_units(each, "units") for each in rows]
        widths.append((number.high - number.low) / sum(end.high - end.low for end in ends))
    assert 0.93 <= np.mean(covered) <= 0.98
    assert compared == "over" or np.mean(widths) < 0.5
