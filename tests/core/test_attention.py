"""Attention is read right on every supported architecture, and the others are refused."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.core.builders import batch
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    REFUSED,
    random_classifier,
    random_model,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import (
    NAME,
    Capture,
    Watcher,
    open_attention,
    watching,
)

TOLERANCE = 1e-6


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_equals_eager_layer_by_layer(name: str, padded: bool) -> None:
    inputs = batch(padded)
    eager = random_model(ARCHITECTURES[name], attn_implementation="eager")
    ours = open_attention(random_model(ARCHITECTURES[name]))
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


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_padding_changes_nothing(name: str) -> None:
    model = open_attention(random_model(ARCHITECTURES[name]))
    inputs = batch(padded=True)
    with torch.no_grad(), watching(model, capture := Capture()):
        model(**inputs)
        together = [pattern[1, :, :13, :13] for pattern in capture.patterns]
        model(input_ids=inputs["input_ids"][1:2, :13])
    for a, b in zip(together, capture.patterns, strict=True):
        torch.testing.assert_close(a, b[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", REFUSED)
def test_other_architectures_are_refused_by_name(name: str) -> None:
    model = random_model(REFUSED[name])
    with pytest.raises((InputError, ValueError), match=r"(?i)" + name.split("-")[0]):
        open_attention(model)


def test_nan_is_refused() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with torch.no_grad():
        model.encoder.layer[1].attention.self.query.bias[0] = torch.nan
    with pytest.raises(InputError, match="layer 2: attention is NaN"), watching(model, Capture()):
        model(**batch(padded=False))


def test_rows_that_do_not_sum_to_one_are_refused() -> None:
    class Halve(Watcher):
        def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
            return pattern / 2

    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with (
        pytest.raises(RuntimeError, match="sums to 1"),
        watching(model, Halve(), Capture()),
        torch.no_grad(),
    ):
        model(**batch(padded=False))


def test_bfloat16_patterns_are_close() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    inputs = batch(padded=True)
    with torch.no_grad(), watching(model, exact := Capture()):
        model(**inputs)
    with (
        torch.no_grad(),
        torch.autocast("cpu", dtype=torch.bfloat16),
        watching(model, rough := Capture()),
    ):
        model(**inputs)
    difference = (exact.patterns[0] - rough.patterns[0]).abs().mean()
    assert 0 < difference < 0.02


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


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("depth", range(LAYERS))
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
