"""The official GLUE metrics, of one set of predictions and of many on weighted examples.

A weight is how often its example was sampled, so that one matrix product scores all samples of all
variants. Accuracy, F1 and Matthews' are those of weights of 1; another correlation of one set of
predictions is SciPy's, which the weighted form equals only up to rounding.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from workflow_scripts.core.data.tasks import Task

WeightedMetric = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def predictions_of(task: Task, logits: np.ndarray) -> np.ndarray:
    """Class numbers, or scores where the task has no classes, of logits [example, label]."""
    return logits.argmax(axis=1) if task.labels else logits[:, 0]


def score(task: Task, labels: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    """The task's metrics: accuracy, F1 of class 1, Matthews', Pearson's, Spearman's correlation."""
    predictions = predictions_of(task, logits)
    return {metric: METRICS[metric](labels, predictions) for metric in task.metrics}


def majority(task: Task, labels: np.ndarray) -> dict[str, float]:
    """Scores without reading: always the most frequent class, or always the same score."""
    if not task.labels:
        return dict.fromkeys(task.metrics, 0.0)
    counts = np.bincount(labels.astype(int), minlength=task.n_labels)
    return score(task, labels, np.tile(counts, (len(labels), 1)))


def weighted_scores(
    metric: str, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The metric of every variant on every sample, [draw, variant].

    `labels` [example], `predictions` [variant, example], `weights` [draw, example]. A correlation
    with what does not vary is 0, as is F1 where class 1 is neither true nor predicted.
    """
    return _WEIGHTED[metric](np.asarray(labels), np.asarray(predictions), weights.astype(float))


def _weighted_sums(
    metric: str, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    statistics, score_of = SUMS[metric]
    return score_of(np.stack([weights @ of_one.T for of_one in statistics(labels, predictions)]))


def _right(labels: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    right = predictions == labels
    return np.stack([right, np.ones_like(right)]).astype(np.int8)


def ratio(sums: np.ndarray) -> np.ndarray:
    """A share, or nats per token: [...] of two sums, [2, ...]."""
    return sums[0] / sums[1]


def _positives(labels: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """True positives, and positives among the predictions and among the labels together."""
    predicted, true = predictions == 1, labels == 1
    return np.stack([predicted & true, predicted.astype(np.int8) + true]).astype(np.int8)


def _f1_of_sums(sums: np.ndarray) -> np.ndarray:
    right, either = 2.0 * sums[0], sums[1]
    return np.divide(right, either, out=np.zeros_like(right), where=either > 0)


def _counts(labels: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """All, right ones, those predicted to be and those that are of class 1."""
    right, predicted = predictions == labels, predictions == 1
    true = np.broadcast_to(labels == 1, predicted.shape)
    return np.stack([np.ones_like(predicted), right, predicted, true]).astype(np.int8)


def _matthews_of_sums(sums: np.ndarray) -> np.ndarray:
    """Pearson's correlation of two classes, from counts; 0 where one side has one class only."""
    n, right, predicted, true = sums
    product = right * n - predicted * true - (n - predicted) * (n - true)
    one_spread = n**2 - predicted**2 - (n - predicted) ** 2
    spread = one_spread * (n**2 - true**2 - (n - true) ** 2)
    return np.divide(product, np.sqrt(spread), out=np.zeros_like(product), where=spread > 0)


def _moments(labels: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """1, x, x^2, y, y^2 and xy, from the mean label on, which keeps the sums precise."""
    y = np.broadcast_to(labels - labels.mean(), predictions.shape)
    x = predictions - labels.mean()
    return np.stack([np.ones_like(x), x, x**2, y, y**2, x * y])


def _pearson_of_sums(sums: np.ndarray) -> np.ndarray:
    n, x, xx, y, yy, xy = sums
    spread_x, spread_y = xx - x**2 / n, yy - y**2 / n
    varies = (spread_x > 1e-12 * xx) & (spread_y > 1e-12 * yy)
    spread = np.sqrt(np.where(varies, spread_x * spread_y, 1.0))
    return np.where(varies, (xy - x * y / n) / spread, 0.0)


def _correlations(
    ranked: bool, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    true, *scores = [_ranks(of, weights) if ranked else of for of in (labels, *predictions)]
    return np.stack([correlate(true, of, weights) for of in scores], axis=1)


def correlate(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Correlation under each row of weights, [draw]; values [example] or [draw, example]."""
    total = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1))
    product = (weights * x * y).sum(axis=1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 1e-12)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mid-ranks of the values within each sample, [draw, example]."""
    order = values.argsort(kind="stable")
    first = np.diff(values[order], prepend=np.nan) != 0
    index = np.empty(len(values), int)
    index[order] = first.cumsum() - 1
    counts = np.add.reduceat(weights[:, order], np.flatnonzero(first), axis=1)
    return (counts.cumsum(axis=1) - (counts - 1) / 2)[:, index]


def _unweighted(metric: str, labels: np.ndarray, predictions: np.ndarray) -> float:
    """A metric of classes, of one set of predictions, with every example counted once."""
    return float(_weighted_sums(metric, labels, predictions[None], np.ones((1, len(labels))))[0, 0])


def _correlation(measure: str, labels: np.ndarray, predictions: np.ndarray) -> float:
    from scipy import stats  # half a second, which jobs that only draw samples do without

    if np.ptp(predictions) == 0 or np.ptp(labels) == 0:
        return 0.0  # undefined; a constant prediction has learnt nothing
    return float(getattr(stats, measure)(labels, predictions).statistic)


_OF_CLASSES = ("accuracy", "f1", "matthews")
_WEIGHTED: dict[str, WeightedMetric] = {
    **{name: partial(_weighted_sums, name) for name in _OF_CLASSES},
    "pearson": partial(_correlations, False),
    "spearman": partial(_correlations, True),
}
METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    **{name: partial(_unweighted, name) for name in _OF_CLASSES},
    "pearson": partial(_correlation, "pearsonr"),
    "spearman": partial(_correlation, "spearmanr"),
}
# Metrics that depend on sums over examples alone, and so can be scored on any sample: what makes
# the summands [statistic, variant, example] of labels [example] and predictions [variant, example],
# and the metric [...] of their sums [statistic, ...].
SUMS = {
    "accuracy": (_right, ratio),
    "f1": (_positives, _f1_of_sums),
    "matthews": (_counts, _matthews_of_sums),
    "pearson": (_moments, _pearson_of_sums),
}
