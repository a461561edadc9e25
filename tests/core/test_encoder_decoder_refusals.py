"""Encoder-decoders that cannot be watched are refused, each with one line that names it."""

import copy

import pytest
import torch
from torch import nn
from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel, PreTrainedModel

from tests.core.builders import batch
from tests.core.encoder_decoders import SUBLAYERS, output_weight
from tests.core.tiny_models import (
    ARCHITECTURES,
    ENCODER_DECODERS,
    FSMT,
    random_classifier,
    random_encoder_decoder,
    random_model,
)
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import (
    Capture,
    Watcher,
    is_encoder_decoder,
    n_layers,
    open_attention,
    watching,
)
from workflow_scripts.core.model.interventions import Averages


def refused(model: PreTrainedModel, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        open_attention(model)
    assert "\n" not in str(error.value)


def test_fsmt_is_refused() -> None:
    words = r"^fsmt: 0 of 7 attention modules .* AttentionInterface .*; use another architecture$"
    refused(random_encoder_decoder(FSMT), words)


def test_modules_of_unknown_names_are_refused() -> None:
    parts = [ARCHITECTURES["bert"].to_dict() for _ in range(2)]
    config = EncoderDecoderConfig.from_encoder_decoder_configs(
        BertConfig(**parts[0]),
        BertConfig(**parts[1] | {"is_decoder": True, "add_cross_attention": True}),
    )
    refused(
        EncoderDecoderModel(config).eval(), "^encoder-decoder: BertSelfAttention .* no known name"
    )


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_a_module_that_serves_two_layers_is_refused(name: str) -> None:
    model = random_encoder_decoder(ENCODER_DECODERS[name])
    encoder = model.get_encoder()
    layers = encoder.block if name == "t5" else encoder.layers
    if name == "t5":
        layers[1].layer[0].SelfAttention = layers[0].layer[0].SelfAttention
    else:
        layers[1].self_attn = layers[0].self_attn
    refused(model, rf"^{name}: 5 of 6 attention modules")


def test_different_numbers_of_heads_are_refused() -> None:
    config = copy.deepcopy(ENCODER_DECODERS["marian"])
    config.decoder_attention_heads = 2
    refused(
        random_encoder_decoder(config), "^marian: 4 heads in the encoder.* and 2 in the decoder"
    )


class Deaf(nn.Linear):
    """Merges other heads' outputs than those it is given."""

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return super().forward(given.detach().new_ones(given.shape))


@pytest.mark.parametrize("sublayer", SUBLAYERS, ids=lambda each: f"{each.type}-{each.layer}")
@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_a_sublayer_that_ignores_interventions_is_refused(name: str, sublayer: Sublayer) -> None:
    model = random_encoder_decoder(ENCODER_DECODERS[name])
    weight = output_weight(model, sublayer)
    merge = next(each for each in model.modules() if getattr(each, "weight", None) is weight)
    merge.__class__ = Deaf
    words = rf"^{name}: {sublayer.type} layer {sublayer.layer + 1} goes on with another attention"
    refused(model, words)


def test_an_encoder_decoder_is_no_encoder() -> None:
    model = random_encoder_decoder(ENCODER_DECODERS["bart"])
    assert is_encoder_decoder(model)
    assert not is_encoder_decoder(random_model(ARCHITECTURES["bert"]))
    with pytest.raises(InputError, match=r"^bart: .*; use an encoder or a decoder$"):
        n_layers(model)
    with watching(open_attention(model), Averages()), pytest.raises(RuntimeError, match="stack"):
        model(**batch(padded=False))


class Seen(Watcher):
    """Keeps the numbers of the layers in the order of their calls."""

    def __init__(self) -> None:
        self.layers: list[int] = []

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.layers.append(layer)
        return pattern


def test_layers_are_known_whatever_the_order_of_calls() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    hidden = torch.zeros(1, 4, model.config.hidden_size)
    with watching(model, seen := Seen()):
        for layer in (2, 0, 1, 1):
            model.encoder.layer[layer](hidden)
    assert seen.layers == [2, 0, 1, 1]


def test_a_model_that_was_opened_within_another_is_watched_there_alone() -> None:
    whole = open_attention(random_classifier("bert"))
    open_attention(whole.base_model)
    with watching(whole.base_model, capture := Capture()), torch.no_grad():
        whole(**batch(padded=False))
    assert len(capture.patterns) == n_layers(whole)
    with pytest.raises(RuntimeError, match="open_attention"), watching(whole, Capture()):
        pass
