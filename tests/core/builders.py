"""Random batches, labels and predictions."""

import numpy as np
import torch


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
