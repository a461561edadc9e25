"""Intervals of the scores of fine-tuned models, against samples that are written out."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from workflow_scripts.checkpoints import score_classifier
from workflow_scripts.core.data.tasks import TASKS


@pytest.mark.parametrize("name", ["mrpc", "stsb"])
def test_intervals_over_examples_against_plain_samples(name: str) -> None:
    """Every sample is written out, and scored by scikit-learn or SciPy."""
    rng = np.random.default_rng(2)
    task = TASKS[name]
    logits = rng.normal(size=(40, 2 if task.labels else 1))
    labels = (logits[:, -1] + rng.normal(size=40) > 0).astype(float)
    labels += 0 if task.labels else rng.normal(size=40)
    plainly = {
        "f1": lambda true, given: metrics.f1_score(true, given.argmax(1)),
        "accuracy": lambda true, given: metrics.accuracy_score(true, given.argmax(1)),
        "pearson": lambda true, given: stats.pearsonr(true, given[:, 0]).statistic,
        "spearman": lambda true, given: stats.spearmanr(true, given[:, 0]).statistic,
    }
    counts = np.random.default_rng(5).multinomial(40, np.full(40, 1 / 40), size=300)
    for row in score_classifier.score_rows(task, "fine-tuned", "dev", labels, logits, 300, 5):
        samples = [np.repeat(np.arange(40), count) for count in counts]
        values = [plainly[row["metric"]](labels[chosen], logits[chosen]) for chosen in samples]
        ends = np.percentile(values, [2.5, 97.5])
        np.testing.assert_allclose((row["ci_low"], row["ci_high"]), ends)
        assert row["ci_low"] < row["value"] < row["ci_high"]
