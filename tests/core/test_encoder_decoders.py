"""Attention of encoder-decoders: teacher-forced and in `generate`, against eager models."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

from tests.core.builders import batch
from tests.core.tiny_models import (
    DECODER_LAYERS,
    ENCODER_DECODERS,
    ENCODER_LAYERS,
    HEADS,
    VOCABULARY,
    random_classifier,
    random_encoder_decoder,
    uniform_heads,
)
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import (
    Capture,
    n_heads,
    n_layers,
    open_attention,
    sublayers,
    watching,
)
from workflow_scripts.core.model.interventions import Gates

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


def test_uniform_attention_is_over_what_a_query_may_see(ours: PreTrainedModel) -> None:
    inputs = forced()
    source = inputs["attention_mask"].bool()[:, None]
    plain = logits(ours, inputs)
    for number, sublayer in enumerate(SUBLAYERS):
        with watching(ours, uniform_heads(ours, [(number, 1)]), capture := Capture()):
            changed = logits(ours, inputs)
        found = capture.patterns[number][:, 1]
        n_queries = found.shape[1]
        seen = source if sublayer.type != "decoder" else torch.ones(9, 9).tril().bool()[None]
        seen = seen.expand(3, n_queries, -1).float()
        torch.testing.assert_close(found, seen / seen.sum(-1, keepdim=True))
        assert (changed - plain).abs().max() > 1e-3


def refused(model: PreTrainedModel, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        open_attention(model)
    assert "\n" not in str(error.value)


def test_a_module_that_serves_two_layers_is_refused() -> None:
    model = random_encoder_decoder(ENCODER_DECODERS["bart"])
    layers = model.get_encoder().layers
    layers[1].self_attn = layers[0].self_attn
    refused(model, "^bart: 5 of 6 attention modules")


class Deaf(nn.Linear):
    """Merges other heads' outputs than those it is given."""

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return super().forward(given.detach().new_ones(given.shape))


@pytest.mark.parametrize("sublayer", SUBLAYERS, ids=lambda each: f"{each.type}-{each.layer}")
@pytest.mark.parametrize("name", ["bart", "t5"])
def test_a_sublayer_that_ignores_interventions_is_refused(name: str, sublayer: Sublayer) -> None:
    model = random_encoder_decoder(ENCODER_DECODERS[name])
    weight = output_weight(model, sublayer)
    merge = next(each for each in model.modules() if getattr(each, "weight", None) is weight)
    merge.__class__ = Deaf
    words = rf"^{name}: {sublayer.type} layer {sublayer.layer + 1} goes on with another attention"
    refused(model, words)


def test_an_encoder_decoder_is_no_encoder() -> None:
    model = random_encoder_decoder(ENCODER_DECODERS["bart"])
    with pytest.raises(InputError, match=r"^bart: .*; use an encoder or a decoder$"):
        n_layers(model)


def test_a_model_that_was_opened_within_another_is_watched_there_alone() -> None:
    whole = open_attention(random_classifier("bert"))
    open_attention(whole.base_model)
    with watching(whole.base_model, capture := Capture()), torch.no_grad():
        whole(**batch(padded=False))
    assert len(capture.patterns) == n_layers(whole)
    with pytest.raises(RuntimeError, match="open_attention"), watching(whole, Capture()):
        pass
