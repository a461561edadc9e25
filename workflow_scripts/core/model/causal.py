"""Causal language models: loading one with its head, and the loss of each next token."""

from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, PreTrainedModel

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, weights


def load(directory: Path, device: torch.device) -> PreTrainedModel:
    """The decoder with its language-model head, float32, in eval mode, on `device`, opened.

    Raises InputError for a model that is no decoder, or whose head is not among the weights.
    """
    config = weights.read_config(directory)
    model, _ = weights.load(AutoModelForCausalLM, directory, whole=True, config=config)
    model = attention.open_attention(model.to(device).eval())
    if attention.is_bidirectional(model):
        raise InputError(f"{directory}: tokens attend to later tokens; use a decoder")
    return model


def losses(
    model: PreTrainedModel, ids: torch.Tensor, real: torch.Tensor | None = None
) -> torch.Tensor:
    """The loss of each next token, in nats, [batch, token - 1]: NaN at padding, where `real` is 0.

    `ids` and `real` are [batch, token]; without `real` there is no padding.
    """
    logits = model(input_ids=ids, attention_mask=real, use_cache=False).logits
    return next_token_losses(logits, ids, real)


def next_token_losses(
    logits: torch.Tensor, ids: torch.Tensor, real: torch.Tensor | None = None
) -> torch.Tensor:
    """What `losses` gives, of the model's outputs, [batch, token, vocabulary]."""
    each = cross_entropy(logits[:, :-1].transpose(1, 2).float(), ids[:, 1:], reduction="none")
    return each if real is None else each.masked_fill(~real[:, 1:].bool(), torch.nan)
