"""How many tokens a model reads, found by trying: what config.json states may count others, too.

RoBERTa's 514 positions, say, are those of 512 tokens.
"""

from bisect import bisect_right
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface

from workflow_scripts.core.errors import InputError

TRIAL = "atlas-trial"
TRIED = 2**15  # tokens: longer texts are taken to be read as config.json states


class _Embedded(Exception):
    """A text has its embeddings and positions: the first layer asks for its attention."""


def max_positions(model: PreTrainedModel) -> int:
    """Maximum number of tokens of an input of a model on the CPU, in eval mode.

    Raises InputError where the config does not bound it.
    """
    stated = getattr(model.config, "max_position_embeddings", None)
    if stated is None or stated < 1:
        raise InputError(
            f"{model.config.model_type}: max_position_embeddings in config.json is {stated}; use "
            "another model"
        )
    before = model.config._attn_implementation
    model.set_attn_implementation(TRIAL)
    try:
        most = min(stated, TRIED)
        if _reads(model, most):
            return stated
        return bisect_right(range(1, most), False, key=lambda length: not _reads(model, length))
    finally:
        model.set_attn_implementation(before)


def _reads(model: PreTrainedModel, length: int) -> bool:
    """Whether a text of this length gets as far as the first layer's attention."""
    token = 0 if model.config.pad_token_id else 1  # padding has no position of its own
    try:
        with torch.inference_mode():
            model.base_model(torch.full((1, length), token))
    except _Embedded:
        return True
    except Exception:  # of any kind: each architecture has its own for a text that is too long
        return False
    raise RuntimeError("a layer that asks no registered function for its attention")


def _attend(module: nn.Module, *scores: torch.Tensor | None, **options: Any) -> None:
    raise _Embedded


def _mask(*sizes: Any, **options: Any) -> None:
    """No mask: one of a long text would fill the memory."""


AttentionInterface.register(TRIAL, _attend)
AttentionMaskInterface.register(TRIAL, _mask)
