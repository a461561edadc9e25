"""Batches of examples as a model's inputs."""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens


def has_segments(model: PreTrainedModel) -> bool:
    """Whether the model tells the first text from the second by their segments."""
    return getattr(model.config, "type_vocab_size", 0) > 1


def pad(tokens: Sequence[Tokens], model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Inputs of a batch, padded to its longest example, on the model's device: [batch, token]."""
    shape = (len(tokens), max(len(one) for one in tokens))
    ids = torch.full(shape, model.config.pad_token_id or 0, dtype=torch.long)
    mask, segment = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    for row, one in enumerate(tokens):
        ids[row, : len(one)] = torch.from_numpy(one.ids)
        segment[row, : len(one)] = torch.from_numpy(one.segment)
        mask[row, : len(one)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask}
    if has_segments(model):
        inputs["token_type_ids"] = segment
    return {name: value.to(model.device) for name, value in inputs.items()}
