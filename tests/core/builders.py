"""Random batches, labels and predictions."""

import numpy as np
import torch
from scipy import stats

from workflow_scripts.core.stats.bootstrap import bootstrap_weights


def batch(padded: bool, seed: int = 1) -> dict[str, torch.Tensor]:
    """Inputs of 3 examples: 20, 13 and 5 tokens where `padded`, else 20 each."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, 40, (3, 20), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 13:], mask[2, 5:] = 0, 0
        ids = ids.masked_fill(mask == 0, 0)
    return {"input_ids": ids, "attention_mask": mask}


def labels_and_predictions(
    metric: str, n: int = 40, variants: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Random labels [example] and predictions [variant, example] that suit a metric."""
    rng = np.random.default_rng(2)
    if metric in ("accuracy", "f1", "matthews"):
        classes = 3 if metric == "accuracy" else 2
        labels = rng.integers(0, classes, n)
        noise = rng.integers(0, classes, (variants, n))
        return labels, np.where(rng.random((variants, n)) < 0.7, labels, noise)
    labels = rng.integers(0, 11, n) / 2  # ties, as STS-B has
    return labels, np.round(labels + rng.normal(0, 1.5, (variants, n)), 1)


def plain_ends(sums: np.ndarray, sizes: np.ndarray, draws: int, seed: int) -> tuple[float, float]:
    """The ends of a ratio's interval over units, one bootstrap sample at a time.

    Of fewer than 200 units the expanded percentiles and the studentised ones, of which the
    farther counts, unless it is infinite; of more the percentiles.
    """

    def ratio_and_error(sum_of: np.ndarray, size: np.ndarray) -> tuple[float, float]:
        ratio = sum_of.sum() / size.sum()
        return ratio, np.sqrt(((sum_of - ratio * size) ** 2).sum()) / size.sum()

    observed, error = ratio_and_error(sums, sizes)
    ratios, t = [], []
    for row in bootstrap_weights(len(sums), draws, seed):
        if (row @ sizes) > 0:
            ratio, of_sample = ratio_and_error(np.repeat(sums, row), np.repeat(sizes, row))
            ratios.append(ratio)
            no_error = np.copysign(np.inf, ratio - observed)
            t.append((ratio - observed) / of_sample if of_sample > 1e-12 else no_error)
    n = np.count_nonzero(sizes)
    if n >= 200:
        return tuple(np.percentile(ratios, (2.5, 97.5)))
    beyond = np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1)
    low, high = np.percentile(ratios, 100 * stats.norm.cdf([-beyond, beyond]))
    most, least = np.percentile(t, (97.5, 2.5), method="nearest")
    shares = sums[sizes > 0] / sizes[sizes > 0]
    if np.isfinite(most):
        low = min(low, observed - most * error)
    if np.isfinite(least):
        high = max(high, observed - least * error)
    return max(low, shares.min()), min(high, shares.max())
