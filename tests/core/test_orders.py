"""Orders of pruning from a number for each head."""

import numpy as np
import pytest

from workflow_scripts.core.stats import effects


def test_steps_end_with_all_heads() -> None:
    assert effects.pruning_steps(72, 0.1) == [0, 7, 14, 22, 29, 36, 43, 50, 58, 65, 72]
    assert effects.pruning_steps(12, 0.25) == [0, 3, 6, 9, 12]
    assert effects.pruning_steps(12, 0.3) == [0, 4, 7, 11, 12]
    assert effects.pruning_steps(12, 1) == [0, 12]


def test_lowest_scores_go_first_and_stay_gone() -> None:
    scores = np.array([[0.3, 0.1], [0.2, 0.1]])
    masks = effects.order_by_score(scores, [0, 1, 3, 4])
    assert masks[0].sum() == 0
    np.testing.assert_array_equal(masks[1], [[False, True], [False, False]])
    np.testing.assert_array_equal(masks[2], [[False, True], [True, True]])
    assert masks[3].all()


def test_random_orders_differ_and_nest() -> None:
    sampled = effects.random_orders((3, 4), [0, 4, 8, 12], 3, 1)
    assert len({masks[1].tobytes() for masks in sampled}) == 3
    for masks in sampled:
        assert (masks[1:] >= masks[:-1]).all()
        assert masks.sum(axis=(1, 2)).tolist() == [0, 4, 8, 12]


def test_agreement_is_of_ranks() -> None:
    last = np.array([[1.0, 2], [3, 4]])
    by_epoch = {1: -last, 2: np.array([[2.0, 1], [3, 4]]), 3: np.exp(last), 4: last}
    # One exchange of neighbours among four: 1 - 6 * 2 / (4 * 15).
    assert effects.agreements(by_epoch) == pytest.approx({1: -1, 2: 0.8, 3: 1, 4: 1})
