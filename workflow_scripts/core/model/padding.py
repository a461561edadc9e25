"""Batches of examples as a model's inputs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens


def has_segments(model: PreTrainedModel) -> bool:
    """Whether the model distinguishes the first text from the second by their segments."""
    return getattr(model.config, "type_vocab_size", 0) > 1


def pad(tokens: Sequence[Tokens], model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Inputs of a batch, padded to its longest example, on the model's device: [batch, token]."""
    inputs = {
        "input_ids": _stack([example.ids for example in tokens], model.config.pad_token_id or 0),
        "attention_mask": _stack([np.ones(len(example)) for example in tokens]),
    }
    if has_segments(model):
        inputs["token_type_ids"] = _stack([example.segment for example in tokens])
    return {name: value.to(model.device) for name, value in inputs.items()}


def _stack(rows: list[np.ndarray], padding: int = 0) -> torch.Tensor:
    """Rows of different lengths as one int64 tensor."""
    return pad_sequence([torch.from_numpy(row).long() for row in rows], True, padding)
