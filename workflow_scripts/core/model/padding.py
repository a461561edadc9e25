"""Batches of examples as a model's inputs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PretrainedConfig, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens


def has_segments(model: PreTrainedModel) -> bool:
    """Whether the model distinguishes the first text from the second by their segments."""
    return getattr(model.config, "type_vocab_size", 0) > 1


def pad(tokens: Sequence[Tokens], model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Inputs of a batch, padded to its longest example, on the model's device: [batch, token].

    A model without a padding token gets its end token, or 0: it is masked, and stands on the right.
    """
    inputs = {
        "input_ids": _stack([example.ids for example in tokens], _padding_of(model.config)),
        "attention_mask": _stack([np.ones(len(example)) for example in tokens]),
    }
    if has_segments(model):
        inputs["token_type_ids"] = _stack([example.segment for example in tokens])
    return {name: value.to(model.device) for name, value in inputs.items()}


def _padding_of(config: PretrainedConfig) -> int:
    found = config.pad_token_id if config.pad_token_id is not None else config.eos_token_id
    return (found[0] if isinstance(found, list) else found) or 0


def _stack(rows: list[np.ndarray], padding: int = 0) -> torch.Tensor:
    """Rows of different lengths as one int64 tensor."""
    return pad_sequence([torch.from_numpy(row).long() for row in rows], True, padding)
