"""The official metrics, against values computed by hand and by scikit-learn and SciPy."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from tests.core.builders import labels_and_predictions
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.stats.bootstrap import bootstrap_weights
from workflow_scripts.core.stats.metrics import METRICS, majority, score, weighted_scores

REFERENCES = {
    "accuracy": accuracy_score,
    "f1": f1_score,
    "matthews": matthews_corrcoef,
    "pearson": lambda labels, predictions: stats.pearsonr(labels, predictions).statistic,
    "spearman": lambda labels, predictions: stats.spearmanr(labels, predictions).statistic,
}
LABELS = np.array([1.0, 1.0, 1.0, 0.0])
LOGITS = np.array([[0, 1], [0, 1], [1, 0], [0, 1]], dtype=float)  # predicts 1, 1, 0, 1


def test_accuracy_and_f1_by_hand() -> None:
    # Two true positives, one false positive, one false negative.
    assert score(TASKS["mrpc"], LABELS, LOGITS) == pytest.approx(
        {"f1": 2 * 2 / (2 * 2 + 1 + 1), "accuracy": 0.5}
    )
    assert score(TASKS["sst2"], LABELS, LOGITS) == {"accuracy": 0.5}


def test_the_majority_class() -> None:
    assert majority(TASKS["mrpc"], LABELS) == pytest.approx({"f1": 6 / 7, "accuracy": 0.75})
    three = np.array([2.0, 2.0, 0.0])
    assert majority(TASKS["mnli"], three) == pytest.approx({"accuracy": 2 / 3})
    assert majority(TASKS["cola"], LABELS) == {"matthews": 0.0, "accuracy": 0.75}
    assert majority(TASKS["stsb"], three) == {"pearson": 0.0, "spearman": 0.0}


@pytest.mark.parametrize("metric", REFERENCES)
def test_a_weight_is_a_repeated_example(metric: str) -> None:
    labels, predictions = labels_and_predictions(metric)
    weights = bootstrap_weights(len(labels), 6, 4)
    actual = weighted_scores(metric, labels, predictions, weights)
    assert actual.shape == (6, 5)
    for draw, variant in np.ndindex(actual.shape):
        sampled = np.repeat(np.arange(len(labels)), weights[draw])
        expected = REFERENCES[metric](labels[sampled], predictions[variant][sampled])
        assert actual[draw, variant] == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_plain_metrics_are_exactly_the_libraries(metric: str) -> None:
    labels, predictions = labels_and_predictions(metric, 999)
    for variant in predictions:
        assert METRICS[metric](labels, variant) == REFERENCES[metric](labels, variant)


def test_undefined_scores_are_0() -> None:
    ones, labels = np.ones((2, 4)), np.array([0, 1, 2, 3])
    weights = np.ones((1, 4), int)
    for metric in ("pearson", "spearman"):
        assert not weighted_scores(metric, labels, ones, weights).any()
    for metric in ("f1", "matthews"):
        assert not weighted_scores(metric, np.zeros(4), np.zeros((2, 4)), weights).any()
    assert not weighted_scores("matthews", np.array([0, 1, 1, 0]), ones, weights).any()
