"""Removing heads for good: the rows and columns of their projections go (Michel et al., 4.4)."""

import copy

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.layers import layers_of


class NoHeads(nn.Module):
    """Attention of which no head is left: it adds nothing but the merge's bias."""

    def __init__(self, width: int, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("added", torch.zeros(width) if bias is None else bias)

    def forward(self, hidden_states: torch.Tensor, *_: object, **__: object) -> tuple:
        """The same at every token, and no pattern."""
        return self.added.expand(*hidden_states.shape[:-1], -1), None


def remove_heads(model: PreTrainedModel, gone: np.ndarray) -> PreTrainedModel:
    """A copy of a classifier without the heads of `gone`, bool [layer, head].

    Its outputs are those of the model whose gates of these heads are 0. Raises InputError for an
    architecture that `layers_of` does not know.
    """
    smaller = copy.deepcopy(model)
    classifier = layers_of(smaller)
    if classifier is None:
        kind = model.config.model_type
        raise InputError(
            f"{kind}: its heads cannot be removed; use a model like BERT or DistilBERT"
        )
    for depth, (layer, heads) in enumerate(zip(classifier.layers, gone, strict=True)):
        if heads.all():
            _remove_attention(smaller, depth)
            continue
        attention = layer.attention
        dims = attention.query.out_features // attention.n_heads
        kept = torch.from_numpy(np.flatnonzero(np.repeat(~heads, dims)))
        for linear in (attention.query, attention.key, attention.value):
            _keep(linear, linear.weight[kept], linear.bias[kept])
        _keep(attention.merge, attention.merge.weight[:, kept], attention.merge.bias)
    return smaller


def _remove_attention(model: PreTrainedModel, depth: int) -> None:
    body = model.base_model
    if model.config.model_type == "distilbert":
        layer = body.transformer.layer[depth]
        layer.attention = NoHeads(layer.attention.dim, layer.attention.out_lin.bias.detach())
    else:
        attention = body.encoder.layer[depth].attention
        attention.self = NoHeads(attention.output.dense.in_features)


def _keep(linear: nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Give a projection the weights that stay; its other users see them too."""
    linear.weight, linear.bias = nn.Parameter(weight.detach()), nn.Parameter(bias.detach())
    linear.out_features, linear.in_features = weight.shape
