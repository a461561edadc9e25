"""The official metrics, against values computed by hand."""

import numpy as np
import pytest

from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.stats.metrics import majority, score

LABELS = np.array([1.0, 1.0, 1.0, 0.0])
LOGITS = np.array([[0, 1], [0, 1], [1, 0], [0, 1]], dtype=float)  # says 1, 1, 0, 1


def test_accuracy_and_f1_by_hand() -> None:
    # Two true positives, one false positive, one false negative.
    assert score(TASKS["mrpc"], LABELS, LOGITS) == pytest.approx(
        {"f1": 2 * 2 / (2 * 2 + 1 + 1), "accuracy": 0.5}
    )
    assert score(TASKS["sst2"], LABELS, LOGITS) == {"accuracy": 0.5}


def test_correlations_by_hand() -> None:
    labels, said = np.array([0.0, 1.0, 2.0, 5.0]), np.array([[0.0], [2.0], [1.0], [3.0]])
    found = score(TASKS["stsb"], labels, said)
    x, y = labels - 2, said[:, 0] - 1.5
    assert found["pearson"] == pytest.approx((x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()))
    assert found["spearman"] == pytest.approx(1 - 6 * 2 / (4 * 15))  # two ranks differ by one


def test_a_constant_prediction_correlates_with_nothing() -> None:
    labels = np.array([0.0, 1.0, 2.0])
    assert score(TASKS["stsb"], labels, np.ones((3, 1))) == {"pearson": 0.0, "spearman": 0.0}


def test_the_majority_class() -> None:
    assert majority(TASKS["mrpc"], LABELS) == pytest.approx({"f1": 6 / 7, "accuracy": 0.75})
    three = np.array([2.0, 2.0, 0.0])
    assert majority(TASKS["mnli"], three) == pytest.approx({"accuracy": 2 / 3})
    assert majority(TASKS["stsb"], three) == {"pearson": 0.0, "spearman": 0.0}
