"""How much each head of a translator matters by the gradient of its gate (Michel et al., 4.1).

I_h is the mean over training pairs of |dL(x)/d xi_h|, "the loss on sample x". A sample is a pair,
whose loss is the negative log-likelihood of its target: the sum over the target's tokens, its end
included. The text names no division by the number of tokens, and a model's training objective
weighs a pair so, too; a mean over tokens would give short pairs more weight.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch.nn import functional

from workflow_scripts.core.data import tables
from workflow_scripts.core.model.attention import n_heads, sublayers, watching
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.model.sublayers import Sublayer
from workflow_scripts.core.model.translators import (
    IGNORED,
    Translator,
    pad_sources,
    pad_targets,
    sources_of,
    targets_of,
)
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean
from workflow_scripts.core.stats.orders import normalised

BATCH_TOKENS = 2048  # of sources and targets


def losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The loss of each pair in nats, [batch]: summed over its target's tokens.

    `logits` [batch, token, subword], `labels` [batch, token], IGNORED at padding.
    """
    by_token = functional.cross_entropy(
        logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none"
    )
    return by_token.sum(1)


def gradients(
    translator: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int = BATCH_TOKENS,
) -> np.ndarray:
    """|dL/d xi| of every pair and head, float64 [pair, sublayer, head].

    xi is the gate that multiplies a head's output, 1 here. There is one gate for each pair and
    head, so that one backward pass gives every pair's own gradient; padding, of sources and of
    targets, has no part in it.
    """
    model = translator.model.requires_grad_(False)
    shape = (len(sublayers(model)), n_heads(model))
    values = np.empty((len(sources), *shape))
    lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
    batches = by_length(lengths, batch_tokens)
    for batch in job.progress(batches, len(batches), "gradients of the gates"):
        inputs = pad_sources(translator, [sources[index] for index in batch])
        labels = pad_targets(translator, [targets[index] for index in batch])
        xi = torch.ones(len(batch), *shape, dtype=model.dtype, device=model.device)
        xi.requires_grad_()
        with OneDNN(), watching(model, Gates(xi)):
            logits = model(**inputs, labels=labels).logits
        losses(logits, labels).sum().backward()
        values[batch] = xi.grad.abs().double().cpu().numpy()
    return values


def gradients_on(translator: Translator, pairs: pd.DataFrame) -> np.ndarray:
    """The `gradients` on pairs of texts: columns source and target."""
    sources = sources_of(translator, pairs["source"].tolist())
    return gradients(translator, sources, targets_of(translator, pairs["target"].tolist()))


def by_head(order: Sequence[Sublayer], **values: np.ndarray) -> pd.DataFrame:
    """One row per head: type, layer, head, and a column for each of `values` [sublayer, head]."""
    n_heads = next(iter(values.values())).shape[1]
    frame = tables.tidy({"sublayer": range(len(order)), "head": range(n_heads)}, **values)
    modules = [order[number] for number in frame.pop("sublayer")]
    frame.insert(0, "type", [module.type for module in modules])
    frame.insert(1, "layer", [module.layer for module in modules])
    return frame


def importance_table(
    values: np.ndarray, order: Sequence[Sublayer], draws: int, seed: int
) -> pd.DataFrame:
    """One row per head: importance with its 95% interval over pairs, and `normalised`.

    `values` are those of `gradients`. `normalised` is the importance over its sublayer's l2 norm,
    that is over the heads of one type and layer.
    """
    mean, low, high = bootstrap_mean(values, draws, seed, INDEPENDENT)
    columns = {"importance": mean, "ci_low": low, "ci_high": high, "normalised": normalised(mean)}
    return by_head(order, **columns).assign(n=len(values))
