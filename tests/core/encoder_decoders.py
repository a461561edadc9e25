"""Inputs, searches and parts of the tiny encoder-decoders."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel

from tests.core.builders import batch
from tests.core.tiny_models import (
    DECODER_LAYERS,
    ENCODER_DECODERS,
    ENCODER_LAYERS,
    HEADS,
    VOCABULARY,
    random_encoder_decoder,
)
from workflow_scripts.core.data.heads import Sublayer

BEAMS = 4
SEARCH = {
    "num_beams": BEAMS,
    "do_sample": False,
    "max_new_tokens": 12,
    "no_repeat_ngram_size": 1,  # random weights repeat themselves
    "eos_token_id": list(range(9, len(VOCABULARY), 11)),  # many, so that lengths differ
}
SUBLAYERS = (
    *(Sublayer("encoder", layer) for layer in range(ENCODER_LAYERS)),
    *(Sublayer("encoder-decoder", layer) for layer in range(DECODER_LAYERS)),
    *(Sublayer("decoder", layer) for layer in range(DECODER_LAYERS)),
)
TOLERANCE = {"atol": 2e-5, "rtol": 1e-5}


def eager_model(name: str) -> PreTrainedModel:
    """One of ENCODER_DECODERS with the attention of `transformers`."""
    return random_encoder_decoder(ENCODER_DECODERS[name], attn_implementation="eager")


def forced() -> dict[str, torch.Tensor]:
    """Sources of 20, 13 and 5 tokens with targets of 6, 9 and 4, both padded."""
    labels = torch.randint(5, 80, (3, 9), generator=torch.Generator().manual_seed(3))
    labels[0, 6:], labels[2, 4:] = -100, -100
    return batch(padded=True) | {"labels": labels}


def output_weight(model: PreTrainedModel, sublayer: Sublayer) -> torch.nn.Parameter:
    """The weight that merges a sublayer's heads, [width, head * dim]."""
    stack = model.get_encoder() if sublayer.type == "encoder" else model.get_decoder()
    crossing = sublayer.type == "encoder-decoder"
    if model.config.model_type == "t5":
        part = "1.EncDecAttention" if crossing else "0.SelfAttention"
        return stack.get_submodule(f"block.{sublayer.layer}.layer.{part}.o").weight
    part = "encoder_attn" if crossing else "self_attn"
    return stack.get_submodule(f"layers.{sublayer.layer}.{part}.out_proj").weight


@contextmanager
def without_head(model: PreTrainedModel, sublayer: Sublayer, head: int) -> Iterator[None]:
    """Within, the head outputs nothing, as its part of the weight is 0."""
    weight = output_weight(model, sublayer)
    kept = weight.detach().clone()
    with torch.no_grad():
        weight.unflatten(1, (HEADS, -1))[:, head] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


def translate(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> list[list[int]]:
    """What beam search gives for each row, without the padding after its end."""
    with torch.no_grad():
        found = model.generate(**inputs, **SEARCH).tolist()
    return [cut(row) for row in found]


def cut(tokens: list[int]) -> list[int]:
    """The tokens up to the first that ends a sentence."""
    ends = [place for place, token in enumerate(tokens) if token in SEARCH["eos_token_id"]]
    return tokens[: ends[0] + 1] if ends else tokens


def logits(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Those of a teacher-forced pass, [row, token, word]."""
    with torch.no_grad():
        return model(**inputs).logits
