"""Orders in which heads are pruned, from a number for each head.

A row of heads, here a layer, may be any group of heads: in an encoder-decoder it is an attention
module of one type in one layer.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables


def steps(n: int, share: float) -> list[int]:
    """How many of `n` heads are gone after each step of `share` of them, from none to all."""
    counts = [round(step * share * n) for step in range(int(1 / share + 1e-9) + 1)]
    return counts if counts[-1] == n else [*counts, n]


def by_score(scores: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """The heads gone after each step, lowest score first: bool [step, layer, head]."""
    ranks = np.empty(scores.size, int)
    ranks[np.argsort(scores.ravel(), kind="stable")] = range(scores.size)
    return np.stack([ranks < count for count in counts]).reshape(-1, *scores.shape)


def at_random(
    shape: tuple[int, int], counts: Sequence[int], draws: int, seed: int
) -> list[np.ndarray]:
    """Random orders, each bool [step, layer, head]."""
    rng = np.random.default_rng(seed)
    return [
        by_score(rng.permutation(shape[0] * shape[1]).reshape(shape), counts) for _ in range(draws)
    ]


def order_of(masks: np.ndarray) -> pd.DataFrame:
    """One row per head: layer, head, and the first step in which it is gone."""
    step = np.where(masks.any(axis=0), masks.argmax(axis=0), len(masks))
    axes = {"layer": range(step.shape[0]), "head": range(step.shape[1])}
    return tables.tidy(axes, step=step)


def normalised(importance: np.ndarray) -> np.ndarray:
    """Importance [layer, head] over its l2 norm in each layer (Michel et al., section 4.1)."""
    norm = np.sqrt((importance**2).sum(axis=1, keepdims=True))
    return np.divide(importance, norm, out=np.zeros_like(importance), where=norm > 0)


def agreements(by_epoch: Mapping[int, np.ndarray]) -> dict[int, float]:
    """Spearman's correlation of each epoch's importance with the last one's, over heads."""
    from scipy import stats  # half a second, which jobs that only order heads are spared

    last = by_epoch[max(by_epoch)].ravel()
    return {
        epoch: float(stats.spearmanr(importance.ravel(), last).statistic)
        for epoch, importance in by_epoch.items()
    }
