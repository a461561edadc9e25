"""The official GLUE metrics, by scikit-learn and SciPy."""

from collections.abc import Callable

import numpy as np
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score

from workflow_scripts.core.data.glue import Task


def _correlation(measure: Callable) -> Callable[[np.ndarray, np.ndarray], float]:
    def correlation(labels: np.ndarray, predictions: np.ndarray) -> float:
        if np.ptp(predictions) == 0 or np.ptp(labels) == 0:
            return 0.0  # undefined; a model that says the same of all has learnt nothing
        return float(measure(labels, predictions).statistic)

    return correlation


def _f1(labels: np.ndarray, predictions: np.ndarray) -> float:
    return float(f1_score(labels, predictions, zero_division=0))


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda labels, predictions: float(accuracy_score(labels, predictions)),
    "f1": _f1,
    "pearson": _correlation(stats.pearsonr),
    "spearman": _correlation(stats.spearmanr),
}


def predictions_of(task: Task, logits: np.ndarray) -> np.ndarray:
    """Class numbers, or scores where the task has no classes, of logits [example, label]."""
    return logits.argmax(axis=1) if task.labels else logits[:, 0]


def score(task: Task, labels: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    """The task's metrics: accuracy, F1 of class 1, Pearson's and Spearman's correlation."""
    predictions = predictions_of(task, logits)
    return {metric: METRICS[metric](labels, predictions) for metric in task.metrics}


def majority(task: Task, labels: np.ndarray) -> dict[str, float]:
    """What is reached without reading: always the commonest class, or always the same score."""
    if not task.labels:
        return dict.fromkeys(task.metrics, 0.0)
    counts = np.bincount(labels.astype(int), minlength=task.n_labels)
    return score(task, labels, np.tile(counts, (len(labels), 1)))
