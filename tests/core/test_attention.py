"""Attention is read right on every supported architecture, and the others are refused."""

from typing import Any

import pytest
import torch
from torch import nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from tests.core.builders import batch
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    REFUSED,
    random_classifier,
    random_model,
    with_biases,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import (
    NAME,
    Capture,
    open_attention,
    watching,
)

TOLERANCE = 2e-6


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_equals_eager_layer_by_layer(name: str, padded: bool) -> None:
    inputs = batch(padded)
    eager = with_biases(name, attn_implementation="eager")
    ours = open_attention(with_biases(name))
    with torch.no_grad():
        expected = eager(**inputs, output_attentions=True, output_hidden_states=True)
        with watching(ours, capture := Capture()):
            actual = ours(**inputs, output_hidden_states=True)
    assert len(capture.patterns) == len(expected.attentions) == LAYERS
    real = inputs["attention_mask"].bool()
    for layer in range(LAYERS):
        assert capture.patterns[layer].shape == (3, HEADS, 20, 20)
        for row in range(3):
            n = int(real[row].sum())
            a = capture.patterns[layer][row, :, :n, :n]
            b = expected.attentions[layer][row, :, :n, :n]
            torch.testing.assert_close(a, b, atol=TOLERANCE, rtol=0)
    for a, b in zip(actual.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(a[real], b[real], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_other_architectures_are_refused_by_name(name: str) -> None:
    model = random_model(REFUSED[name])
    with pytest.raises(InputError, match=f"^{name.split('-')[0]}: 0 of {LAYERS} layers hand"):
        open_attention(model)


def test_nan_is_refused() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with torch.no_grad():
        model.encoder.layer[1].attention.self.query.bias[0] = torch.nan
    with pytest.raises(InputError, match="layer 2: attention is NaN"), watching(model, Capture()):
        model(**batch(padded=False))


class Deaf(nn.Module):
    """Self-attention that asks AttentionInterface for its pattern and goes on with its own."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, hidden: torch.Tensor, *others: Any, **options: Any) -> tuple:
        _, pattern = self.inner(hidden, *others, **options)
        self.inner.config._attn_implementation = "eager"
        output, _ = self.inner(hidden, *others, **options)
        self.inner.config._attn_implementation = NAME
        return output, pattern


@pytest.mark.parametrize(("depth", "training"), [(0, False), (1, True)])
def test_a_layer_that_ignores_interventions_is_refused(depth: int, training: bool) -> None:
    """Patterns are read as usual, but heads cannot be disabled: no other check would notice."""
    model = random_model(ARCHITECTURES["bert"]).train(training)
    attention = model.encoder.layer[depth].attention
    attention.self = Deaf(attention.self)
    words = f"bert: layer {depth + 1} goes on with another attention .* another architecture"
    with pytest.raises(InputError, match=words):
        open_attention(model)
    assert model.training == training


@pytest.mark.parametrize("name", ["bert", "distilbert"])
def test_a_head_of_zeros_does_not_hide_the_effect(name: str) -> None:
    classifier = random_classifier(name)
    with torch.no_grad():
        classifier.classifier.weight.zero_()
    open_attention(classifier)


def test_an_unknown_argument_is_refused_by_name() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with pytest.raises(InputError, match="BertSelfAttention: attention is given head_mask"):
        model(**batch(padded=False), head_mask=torch.zeros(LAYERS, HEADS))
    model(**batch(padded=False), head_mask=None)  # as if it was not given


def test_a_window_that_the_mask_does_not_hold_is_refused() -> None:
    """ModernBERT's window is in its mask; without one, a longer text would be read whole."""
    model = open_attention(random_model(ARCHITECTURES["modernbert"]))
    with watching(model, capture := Capture()), torch.no_grad():
        model(**batch(padded=False))
    assert capture.patterns[1][0, :, 0, 10:].max() == 0
    bert = open_attention(random_model(ARCHITECTURES["bert"]))
    with pytest.raises(InputError, match="BertSelfAttention: attention is given sliding_window"):
        bert(input_ids=torch.full((1, 9), 6), sliding_window=4)


@pytest.mark.parametrize("mask_rows", [1, 2, 6])
def test_neighbouring_rows_may_have_keys_in_common(mask_rows: int) -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    module, attend = model.encoder.layer[0].attention.self, ALL_ATTENTION_FUNCTIONS[NAME]
    torch.manual_seed(1)
    query, (key, value) = torch.randn(6, HEADS, 3, 8), torch.randn(2, 2, HEADS, 5, 8)
    mask = torch.zeros(mask_rows, 1, 1, 5)
    mask[-1, ..., 2:] = torch.finfo(mask.dtype).min
    repeated = (each.repeat_interleave(6 // len(each), 0) for each in (key, value, mask))
    shared, whole = attend(module, query, key, value, mask), attend(module, query, *repeated)
    for actual, expected in zip(shared, whole, strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-6)
    assert (shared[1] == 0).any()  # something is masked
