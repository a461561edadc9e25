"""Classes of maps by rules."""

import numpy as np
import pytest

from tests.patterns.builders import SEGMENT, SPECIAL, made_up
from workflow_scripts.patterns.annotated_maps import CLASSES, classify, masses


def test_masses_by_hand() -> None:
    pattern = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.4, 0.1, 0.1, 0.4], [0.0, 0.0, 1.0, 0.0]]
    )
    special, segment = np.array([True, False, False, False]), np.array([0, 0, 0, 1])
    columns, diagonal, block = masses(pattern, special, segment)
    assert columns == pytest.approx((1 + 0.2 + 0.4 + 0) / 4)
    assert diagonal == pytest.approx((0 + 0.8 + 0.6 + 1.0) / 4)
    # Among tokens 1 to 3: 0.5 + 0.3 + 0.1 + 0.1 of 2.4 within; 5 of 9 cells are within.
    assert block == pytest.approx(1.0 / 2.4 - 5 / 9)
    assert masses(pattern, special, np.zeros(4))[2] == 0


@pytest.mark.parametrize("kind", CLASSES)
def test_rules_know_clear_cases(kind: str) -> None:
    pattern = np.stack([made_up(kind, seed) for seed in range(4)])
    assert [CLASSES[number] for number in classify(pattern, SPECIAL, SEGMENT)] == [kind] * 4
