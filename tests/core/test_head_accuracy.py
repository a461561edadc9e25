"""Accuracies, intervals and held-out choices of kinds that are rare or missing."""

import numpy as np

from workflow_scripts.core.stats import head_accuracy


def test_a_kind_that_never_occurs_has_no_accuracy() -> None:
    correct = np.array([[[1, 0], [0, 0]], [[2, 0], [1, 0]]])  # [unit, head, kind]
    total = np.array([[2, 0], [2, 0]])
    mean, low, high = head_accuracy.accuracy(correct, total, draws=200, seed=1)
    assert mean[:, 0].tolist() == [0.75, 0.25]
    assert (low[:, 0] <= mean[:, 0]).all() and (mean[:, 0] <= high[:, 0]).all()
    assert np.isnan([mean[:, 1], low[:, 1], high[:, 1]]).all()


def test_draws_without_a_rare_kind_do_not_count() -> None:
    correct, total = np.zeros((6, 1, 1), dtype=int), np.zeros((6, 1), dtype=int)
    correct[:2], total[:2] = 1, 1
    mean, low, high = head_accuracy.accuracy(correct, total, draws=200, seed=1)
    assert (mean, low, high) == (1, 1, 1)


def test_a_kind_in_one_unit_has_no_interval() -> None:
    correct, total = np.zeros((6, 1, 1), dtype=int), np.zeros((6, 1), dtype=int)
    correct[0], total[0] = 1, 2
    mean, low, high = head_accuracy.accuracy(correct, total, draws=200, seed=1)
    assert mean.item() == 0.5
    assert np.isnan([low, high]).all()


def test_units_are_documents() -> None:
    assert head_accuracy.units(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert head_accuracy.units(["a", "a", "a"]).tolist() == [0, 1, 2]


def test_held_out_by_hand() -> None:
    order = np.random.default_rng(1).permutation(4)
    correct = np.zeros((4, 2, 1), dtype=int)
    correct[order[:2], 1] = 1  # the second head is best on the first half
    correct[order[2:], 0] = 1  # and never right on the other
    correct[order[3], 1] = 1
    assert head_accuracy.held_out(correct, np.ones((4, 1), dtype=int), seed=1) == [((1,), 0.5, 2)]
    missing = np.zeros((4, 1), dtype=int)
    ((_, share, n),) = head_accuracy.held_out(correct, missing, seed=1)
    assert np.isnan(share) and n == 0
