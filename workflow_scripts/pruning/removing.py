"""Removing heads for good: the rows and columns of their projections go (Michel et al., 4.4)."""

import copy

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.parts import LIKE_BERT


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
    architecture other than BERT, RoBERTa, ELECTRA, DistilBERT and their kin.
    """
    kind = model.config.model_type
    smaller = copy.deepcopy(model)
    if kind == "distilbert":
        for layer, heads in zip(smaller.base_model.transformer.layer, gone, strict=True):
            inner = layer.attention
            if heads.all():
                layer.attention = NoHeads(inner.dim, inner.out_lin.bias.detach())
                continue
            dims = _dims(heads, inner.attention_head_size)
            for name in ("q_lin", "k_lin", "v_lin"):
                setattr(inner, name, _fewer_rows(getattr(inner, name), dims))
            inner.out_lin = _fewer_columns(inner.out_lin, dims)
            inner.n_heads = int((~heads).sum())
        return smaller
    if kind not in LIKE_BERT:
        raise InputError(f"{kind}: its heads cannot be removed; use BERT, RoBERTa or DistilBERT")
    for layer, heads in zip(smaller.base_model.encoder.layer, gone, strict=True):
        inner, merge = layer.attention.self, layer.attention.output
        if heads.all():
            layer.attention.self = NoHeads(merge.dense.in_features)
            continue
        dims = _dims(heads, inner.attention_head_size)
        for name in ("query", "key", "value"):
            setattr(inner, name, _fewer_rows(getattr(inner, name), dims))
        merge.dense = _fewer_columns(merge.dense, dims)
        inner.num_attention_heads = int((~heads).sum())
        inner.all_head_size = len(dims)
    return smaller


def _dims(heads: np.ndarray, size: int) -> torch.Tensor:
    """The dimensions of the heads that stay."""
    return torch.from_numpy(np.flatnonzero(np.repeat(~heads, size)))


def _fewer_rows(linear: nn.Linear, kept: torch.Tensor) -> nn.Linear:
    return _linear(linear.weight[kept], linear.bias[kept])


def _fewer_columns(linear: nn.Linear, kept: torch.Tensor) -> nn.Linear:
    return _linear(linear.weight[:, kept], linear.bias)


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    made = nn.Linear(weight.shape[1], weight.shape[0], device=weight.device, dtype=weight.dtype)
    with torch.no_grad():
        made.weight.copy_(weight)
        made.bias.copy_(bias)
    return made
