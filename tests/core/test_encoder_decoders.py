"""Attention of encoder-decoders: teacher-forced and in `generate`, against eager models."""

from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tests.core.builders import batch
from tests.core.encoder_decoders import (
    SUBLAYERS,
    TOLERANCE,
    eager_model,
    forced,
    logits,
    output_weight,
    translate,
    without_head,
)
from tests.core.tiny_models import (
    DECODER_LAYERS,
    ENCODER_DECODERS,
    ENCODER_LAYERS,
    HEADS,
    random_encoder_decoder,
)
from workflow_scripts.core.model.attention import (
    Capture,
    n_heads,
    open_attention,
    sublayers,
    watching,
)
from workflow_scripts.core.model.interventions import Gates, Uniform
from workflow_scripts.core.model.sublayers import Sublayer


@pytest.fixture(scope="module", params=ENCODER_DECODERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def ours(name: str) -> PreTrainedModel:
    return open_attention(random_encoder_decoder(ENCODER_DECODERS[name]))


@pytest.fixture(scope="module")
def eager(name: str) -> PreTrainedModel:
    return eager_model(name)


def gates(*disabled: tuple[int, int]) -> torch.Tensor:
    """Gates [row, sublayer, head], with one head (sublayer, head) disabled in each row."""
    xi = torch.ones(len(disabled), len(SUBLAYERS), HEADS)
    for row, (number, head) in enumerate(disabled):
        xi[row, number, head] = 0
    return xi


def repeated(inputs: dict[str, torch.Tensor], times: int) -> dict[str, torch.Tensor]:
    return {key: value.repeat_interleave(times, 0) for key, value in inputs.items()}


def test_hidden_states_logits_and_patterns_equal_eager(
    eager: PreTrainedModel, ours: PreTrainedModel
) -> None:
    with torch.no_grad():
        expected = eager(**forced(), output_attentions=True, output_hidden_states=True)
        with watching(ours, capture := Capture()):
            actual = ours(**forced(), output_hidden_states=True)
    for part in ("encoder_hidden_states", "decoder_hidden_states"):
        torch.testing.assert_close(getattr(actual, part), getattr(expected, part), **TOLERANCE)
    torch.testing.assert_close(actual.logits, expected.logits, **TOLERANCE)
    attentions = (
        *expected.encoder_attentions,
        *expected.cross_attentions,
        *expected.decoder_attentions,
    )
    assert sublayers(ours) == SUBLAYERS
    assert n_heads(ours) == HEADS
    assert len(attentions) == len(capture.patterns) == len(SUBLAYERS)
    for ours_, eagers in zip(capture.patterns, attentions, strict=True):
        torch.testing.assert_close(ours_, eagers, atol=1e-6, rtol=0)
        row = eagers[1, :, 3]
        assert row.max() * (row[0] > 0).sum() > 1.05  # uniform patterns would all be alike


def test_beam_search_equals_eager(eager: PreTrainedModel, ours: PreTrainedModel) -> None:
    inputs = batch(padded=True)
    expected = translate(eager, inputs)
    assert len({len(tokens) for tokens in expected}) > 1, "lengths should differ"
    assert translate(ours, inputs) == expected
    for xi in (torch.ones(len(SUBLAYERS), HEADS), torch.ones(3, len(SUBLAYERS), HEADS)):
        with watching(ours, Gates(xi)):
            assert translate(ours, inputs) == expected


def test_a_gate_of_zero_equals_a_weight_of_zero(
    eager: PreTrainedModel, ours: PreTrainedModel
) -> None:
    plain, real = logits(eager, forced()), forced()["labels"] >= 0
    for number, sublayer in enumerate(SUBLAYERS):
        for head in range(HEADS):
            with without_head(eager, sublayer, head):
                expected = logits(eager, forced())
            with watching(ours, Gates(gates((number, head))[0])):
                actual = logits(ours, forced())
            torch.testing.assert_close(actual, expected, **TOLERANCE)
            assert (actual - plain)[real].abs().max() > 1e-3, (sublayer, head)


def test_beam_search_without_a_head_equals_a_weight_of_zero(
    eager: PreTrainedModel, ours: PreTrainedModel
) -> None:
    """The first head of each sublayer that matters; all at once, too, one in each row."""
    inputs, disabled, expected = batch(padded=True), [], []
    plain = translate(eager, inputs)
    for number, sublayer in enumerate(SUBLAYERS):
        for head in range(HEADS):
            with without_head(eager, sublayer, head):
                found = translate(eager, inputs)
            if found != plain:
                break
        assert found != plain, f"no head of {sublayer} matters to these translations"
        disabled.append((number, head))
        expected.append(found)
    for (number, head), one in zip(disabled, expected, strict=True):
        with watching(ours, Gates(gates((number, head))[0])):
            assert translate(ours, inputs) == one
    stacked = repeated(inputs, len(disabled))  # row: sentence * sublayer + sublayer
    with watching(ours, Gates(gates(*disabled).repeat(3, 1, 1))):
        together = translate(ours, stacked)
    assert together == [one[sentence] for sentence in range(3) for one in expected]


def test_gates_of_each_row_equal_one_row_at_a_time(ours: PreTrainedModel) -> None:
    xi = torch.rand(3, len(SUBLAYERS), HEADS, generator=torch.Generator().manual_seed(0))
    with watching(ours, Gates(xi)):
        together, found = logits(ours, forced()), translate(ours, batch(padded=True))
    for row in range(3):
        alone = {key: value[row : row + 1] for key, value in forced().items()}
        with watching(ours, Gates(xi[row])):
            torch.testing.assert_close(logits(ours, alone)[0], together[row], **TOLERANCE)
            del alone["labels"]
            assert translate(ours, alone) == [found[row]]


def test_a_decoder_on_given_encoder_outputs_goes_on_with_the_pass(ours: PreTrainedModel) -> None:
    inputs = forced()
    with torch.no_grad(), watching(ours, capture := Capture()):
        expected = ours(**inputs)
        whole = capture.patterns
        outputs = ours.get_encoder()(inputs.pop("input_ids"), inputs["attention_mask"])
        assert list(capture.calls) == list(range(ENCODER_LAYERS))
        for _ in range(2):
            actual = ours(encoder_outputs=outputs, **inputs)
    torch.testing.assert_close(actual.logits, expected.logits)
    calls = [len(capture.calls[number]) for number in range(len(SUBLAYERS))]
    assert calls == [1] * ENCODER_LAYERS + [2] * 2 * DECODER_LAYERS
    for pattern, before in zip(capture.patterns, whole, strict=True):
        torch.testing.assert_close(pattern, before)


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
