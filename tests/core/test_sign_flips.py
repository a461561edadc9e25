"""The exact sign-flip test against all assignments of signs, written out; Holm's correction."""

import math
from itertools import product

import numpy as np
import pytest

from workflow_scripts.core.stats.randomisation import MOST_UNITS, holm, sign_flip_p


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_every_assignment_of_signs_counts(n: int) -> None:
    """Ties, a sum of 0 and negative sums among them."""
    rng = np.random.default_rng(n)
    differences = np.column_stack(
        [rng.normal(size=n), rng.integers(-2, 3, n), np.zeros(n), -rng.random(n), rng.random(n)]
    )
    expected = []
    for column in differences.T:
        sums = [abs(np.dot(signs, column)) for signs in product([1, -1], repeat=n)]
        expected.append(np.mean([size >= abs(column.sum()) - 1e-9 for size in sums]))
    np.testing.assert_allclose(sign_flip_p(differences), expected, rtol=1e-12)


def test_twenty_equal_signs_have_the_smallest_p() -> None:
    assert sign_flip_p(np.full((20, 1), 0.3)).tolist() == [2 / 2**20]
    with pytest.raises(ValueError, match=f"{MOST_UNITS} at most"):
        sign_flip_p(np.ones((MOST_UNITS + 1, 1)))


def test_p_values_corrected_by_holm() -> None:
    """0.01 by 4, 0.02 by 3, 0.03 by 2 makes no less than 0.06, and an unknown p is 1."""
    found = holm(np.array([0.02, 0.01, math.nan, 0.03]))
    assert found.tolist() == pytest.approx([0.06, 0.04, 1, 0.06])
    assert holm(np.array([])).tolist() == []
