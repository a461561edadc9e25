"""Weights kept after each epoch of a training, and how the heads' importance settles over them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import stats

from workflow_scripts.core.run.errors import InputError


def epochs_of(epochs: Path, last: Path, remedy: str) -> list[Path]:
    """The weights after each epoch, in order: those in `epochs`, then `last`.

    Raises InputError, with its `remedy`, where none were kept.
    """
    kept = sorted(epochs.glob("epoch-*"), key=lambda path: int(path.name.partition("-")[2]))
    if not kept:
        raise InputError(f"{epochs}: no epoch-*; {remedy}")
    return [*kept, last]


def agreements(by_epoch: Mapping[int, np.ndarray]) -> dict[int, float]:
    """Spearman's correlation of each epoch's importance with the last one's, over heads."""
    last = by_epoch[max(by_epoch)].ravel()
    return {
        epoch: float(stats.spearmanr(importance.ravel(), last).statistic)
        for epoch, importance in by_epoch.items()
    }
