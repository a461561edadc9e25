"""Masked language models, with the checkpoint's own head or one that was fitted, and masking."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn
from transformers import AutoModelForMaskedLM, PreTrainedModel

from workflow_scripts.core.data.tokens import IGNORED, Tokens
from workflow_scripts.core.model import weights

SHARE = 0.15


def load_masked_lm(
    directory: Path, device: torch.device, head: Path | None = None
) -> tuple[PreTrainedModel, bool]:
    """The model with a masked-LM head, by `head` a stored one; whether its own was there."""
    model, missing = weights.load(AutoModelForMaskedLM, directory)
    has_head = not missing & set(head_parameters(model))
    if head is not None:
        state = load_file(head)
        with torch.no_grad():
            for name, parameter in head_parameters(model).items():
                parameter.copy_(state[name])
    return model.to(device).eval(), has_head


def head_kind(head: Path) -> str:
    """Whether the stored head is the checkpoint's own or was fitted here: own or fitted."""
    with safe_open(head, framework="pt") as file:
        return file.metadata()["head"]


def head_parameters(model: PreTrainedModel) -> dict[str, nn.Parameter]:
    """The parameters outside the body; a decoder tied to the embeddings is not among them."""
    prefix = model.base_model_prefix + "."
    return {name: each for name, each in model.named_parameters() if not name.startswith(prefix)}


def head_state(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The head's parameters as safetensors stores them."""
    parameters = head_parameters(model).items()
    return {name: parameter.detach().cpu().clone() for name, parameter in parameters}


def mask_tokens(
    ids: np.ndarray, maskable: np.ndarray, mask_id: int, vocabulary: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Masked ids and labels, int64 [L] each; labels are IGNORED where nothing is predicted.

    15% of the `maskable` positions (bool [L]), at least one, are predicted; of these 80% become
    the mask token, 10% a random token of the vocabulary and 10% stay.
    """
    candidates = np.flatnonzero(maskable)
    count = max(1, round(SHARE * len(candidates)))
    chosen = rng.choice(candidates, size=count, replace=False)
    masked, labels = ids.astype(np.int64), np.full(len(ids), IGNORED, dtype=np.int64)
    labels[chosen] = ids[chosen]
    draw = rng.random(count)
    masked[chosen[draw < 0.8]] = mask_id
    randomised = chosen[draw >= 0.9]
    masked[randomised] = rng.integers(vocabulary, size=len(randomised))
    return masked, labels


def mask_example(
    tokens: Tokens, mask_id: int, vocabulary: int, rng: np.random.Generator
) -> tuple[Tokens, np.ndarray]:
    """An example with masked ids, and its labels; special tokens are never masked."""
    ids, labels = mask_tokens(tokens.ids, tokens.word >= 0, mask_id, vocabulary, rng)
    return replace(tokens, ids=ids), labels
