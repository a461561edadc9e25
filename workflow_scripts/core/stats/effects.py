"""Scores of models without heads: reading them, orders of pruning, importance, nats per token."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.stats import bootstrap, randomisation
from workflow_scripts.core.stats.metrics import ratio
from workflow_scripts.core.stats.randomisation import OfSums, Test

METRICS = {
    "f1": "F1",
    "accuracy": "Accuracy",
    "matthews": "Matthews",
    "pearson": "Pearson",
    "spearman": "Spearman",
}


def read_scores(paths: Sequence[Path], unit: str) -> pd.DataFrame:
    """The scores of one unit, of all sweeps."""
    frame = tables.read_all(paths)
    return frame[frame["unit"] == unit].reset_index(drop=True)


def on_main_metric(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task's main metric."""
    main = frame["task"].map({name: task.main_metric for name, task in TASKS.items()})
    return frame[frame["metric"] == main]


def main_rows(frame: pd.DataFrame, mode: str) -> pd.DataFrame:
    """The rows of a mode on the first development set and of each task's main metric."""
    return on_main_metric(frame[(frame["split"] == "dev") & (frame["mode"] == mode)])


def title_of(task: str) -> str:
    """A task and its main metric, as the title of a panel."""
    return f"{TASKS[task].title} ({METRICS[TASKS[task].main_metric]})"


def over_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds: one row per task, split, unit, mode, layer, head and metric."""
    keys = ["task", "split", "unit", "mode", "layer", "head", "metric"]
    return frame.groupby(keys, sort=False, as_index=False).mean(numeric_only=True)


def pruning_steps(n: int, share: float) -> list[int]:
    """How many of `n` heads are gone after each step of `share` of them, from none to all."""
    counts = [round(step * share * n) for step in range(int(1 / share + 1e-9) + 1)]
    return counts if counts[-1] == n else [*counts, n]


def order_by_score(scores: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """The heads gone after each step, lowest score first: bool [step, layer, head]."""
    ranks = np.empty(scores.size, int)
    ranks[np.argsort(scores.ravel(), kind="stable")] = range(scores.size)
    return np.stack([ranks < count for count in counts]).reshape(-1, *scores.shape)


def random_orders(
    shape: tuple[int, int], counts: Sequence[int], draws: int, seed: int
) -> list[np.ndarray]:
    """Random orders, each bool [step, layer, head]."""
    rng = np.random.default_rng(seed)
    return [
        order_by_score(rng.permutation(shape[0] * shape[1]).reshape(shape), counts)
        for _ in range(draws)
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


def by_document(nats: np.ndarray, n_tokens: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Sums of nats [variant, segment] and of tokens [segment]: [variant, document, 2]."""
    both = np.stack(np.broadcast_arrays(nats, n_tokens), axis=-1)
    return bootstrap.sum_by_document(both.swapaxes(0, 1), documents).swapaxes(0, 1)


def resampled_nats(sums: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Nats per token of sums [variant, document, 2]: [1 + draw, variant], those observed first."""
    return weighted_nats(sums, bootstrap.observed_and_resampled(sums.shape[1], draws, seed))


def nats_ends(
    variants: np.ndarray, baseline: np.ndarray | float, draws: int, seed: int
) -> np.ndarray:
    """Both ends, [2, variant], of 95% intervals of nats per token above a baseline's, or above 0.

    Whole documents are resampled, for both alike. `variants` are sums [variant, document, 2],
    `baseline` sums of nats [document].
    """
    nats, tokens = np.moveaxis(variants, -1, 0)
    return bootstrap.ratio_ends((nats - baseline).T, tokens.T, draws, seed)


def weighted_nats(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Nats per token [draw, variant]: sums [variant, document, 2], weights [draw, document]."""
    return ratio(np.einsum("dn,vns->sdv", weights.astype(float), sums))


def tested_nats(baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int) -> Test:
    """The paired randomisation test of variants [variant, document, 2] against [document, 2]."""
    compared = OfSums(lambda sums: np.moveaxis(sums, -1, 0), ratio)
    return randomisation.test(compared, baseline, variants, draws, seed)
