"""In which order heads are pruned: by importance estimated again, or by their one-head scores."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.glue import Task
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.head_gradients import losses
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.metrics import METRICS, predictions_of
from workflow_scripts.core.stats.orders import by_score
from workflow_scripts.pruning.importance import Definition, importance_of


def by_importance(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    counts: Sequence[int],
    definition: Definition,
    first: np.ndarray,
) -> np.ndarray:
    """The least important heads first, bool [step, layer, head].

    Importance is computed again before each step, in the model without the heads that are already
    gone; `first`, [layer, head], is that of the whole model.
    """
    gone, importance = np.zeros(first.shape, bool), first
    masks = []
    for count in job.progress(counts, len(counts), "importance, step by step"):
        if gone.any() and count < gone.size:
            importance = importance_of(model, tokens, labels, definition, gone)
        gone = by_score(np.where(gone, -np.inf, importance), [count])[0]
        masks.append(gone)
    return np.stack(masks)


def by_ablation(
    task: Task, labels: np.ndarray, logits: np.ndarray, part: np.ndarray, counts: Sequence[int]
) -> np.ndarray:
    """First the head without which the score on `part` is highest, bool [step, layer, head].

    `logits` [layer, head, example, label] with one head disabled; `part` is bool [example].
    Among heads of equal score, the one with the lower mean loss goes first.
    """
    metric, target = METRICS[task.main_metric], torch.from_numpy(np.asarray(labels)[part])
    n_layers, n_heads, _, n_labels = logits.shape
    keys = []
    for without_head in logits[:, :, part].reshape(-1, int(part.sum()), n_labels):
        loss = losses(torch.from_numpy(np.ascontiguousarray(without_head)), target).mean().item()
        keys.append((-metric(labels[part], predictions_of(task, without_head)), loss))
    ranks = np.empty(len(keys), int)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = range(len(keys))
    return by_score(ranks.reshape(n_layers, n_heads), counts)


def one_in_each_layer(scores: np.ndarray) -> np.ndarray:
    """All heads, then the highest score of each layer alone: bool [2, layer, head], true if gone.

    All others go at once, as with `--one-head` of Michel et al.'s released program.
    """
    gone = np.ones(scores.shape, bool)
    gone[np.arange(len(scores)), scores.argmax(axis=1)] = False
    return np.stack([np.zeros(scores.shape, bool), gone])
