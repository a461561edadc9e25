"""Which keys a query may see in an encoder-decoder, and uniform attention over them."""

from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tests.core.builders import batch
from tests.core.encoder_decoders import (
    BEAMS,
    SUBLAYERS,
    TOLERANCE,
    eager_model,
    forced,
    logits,
    output_weight,
    translate,
)
from tests.core.tiny_models import ENCODER_DECODERS, HEADS, random_encoder_decoder
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.interventions import Uniform


@pytest.fixture(scope="module", params=ENCODER_DECODERS)
def ours(request: pytest.FixtureRequest) -> PreTrainedModel:
    return open_attention(random_encoder_decoder(ENCODER_DECODERS[request.param]))


class Reals(Watcher):
    """Keeps what each sublayer is given about its keys."""

    def __init__(self) -> None:
        self.found: dict[int, list[torch.Tensor]] = {}

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.found.setdefault(layer, []).append(real)
        return pattern


def test_real_is_what_the_queries_may_see(ours: PreTrainedModel) -> None:
    inputs, target = forced(), torch.ones(3, 9, dtype=torch.long)
    target[1, 5:] = 0
    source = inputs["attention_mask"].bool()
    with watching(ours, reals := Reals()), torch.no_grad():
        ours(**inputs, decoder_attention_mask=target)
    earlier = torch.ones(9, 9).tril().bool() & target.bool()[:, None]
    with watching(ours, steps := Reals()):
        translate(ours, batch(padded=True))
    for number, sublayer in enumerate(SUBLAYERS):
        expected = earlier if sublayer.type == "decoder" else source
        assert torch.equal(reals.found[number][0], expected)
        for step, found in enumerate(steps.found[number]):
            seen = torch.ones(3 * BEAMS, 1, step + 1, dtype=torch.bool)
            crossing = source.repeat_interleave(BEAMS, 0)
            known = {"encoder": source, "encoder-decoder": crossing, "decoder": seen}
            assert torch.equal(found, known[sublayer.type])


def average_by_hand(
    model: PreTrainedModel, sublayer: Sublayer, head: int, mask: torch.Tensor
) -> None:
    """Make the head output the mean of the values of the tokens that each query may see."""
    merge = output_weight(model, sublayer)
    modules = dict(model.named_modules())
    path = next(key for key, module in modules.items() if getattr(module, "weight", None) is merge)
    attention = modules[path.rpartition(".")[0]]
    read: list[torch.Tensor] = []

    def keep(module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        given = kwargs.get("key_value_states", args[1] if len(args) > 1 else None)
        own = kwargs.get("hidden_states", args[0] if args else None)
        read[:] = [own if given is None else given]

    def average(module: torch.nn.Module, args: tuple) -> torch.Tensor:
        project = attention.v if model.config.model_type == "t5" else attention.v_proj
        values = project(read[0]).unflatten(-1, (HEADS, -1))[:, :, head]
        slices = args[0].clone().unflatten(-1, (HEADS, -1))
        for row in range(len(slices)):
            for query in range(slices.shape[1]):
                seen = mask[row].bool()
                if sublayer.type == "decoder":
                    seen = torch.arange(slices.shape[1]) <= query
                slices[row, query, head] = values[row, seen].mean(0)
        return slices.flatten(2)

    attention.register_forward_pre_hook(keep, with_kwargs=True)
    modules[path].register_forward_pre_hook(average)


@pytest.mark.parametrize("number", range(len(SUBLAYERS)))
def test_uniform_attention_is_the_mean_of_the_values(ours: PreTrainedModel, number: int) -> None:
    model, inputs = eager_model(ours.config.model_type), forced()
    plain = logits(model, inputs)
    average_by_hand(model, SUBLAYERS[number], 1, inputs["attention_mask"])
    expected = logits(model, inputs)
    with watching(ours, Uniform({(number, 1)})):
        torch.testing.assert_close(logits(ours, inputs), expected, **TOLERANCE)
    assert (expected - plain).abs().max() > 1e-3
