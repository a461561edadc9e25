"""Attention is read and changed right on every supported architecture."""

import pytest
import torch

from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, REFUSED, random_model
from workflow_scripts.core.model.attention import (
    Capture,
    Gates,
    Uniform,
    Watcher,
    open_attention,
    watching,
)
from workflow_scripts.core.run.errors import InputError

TOLERANCE = 1e-6


def batch(padded: bool, seed: int = 1) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, 40, (3, 20), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 13:], mask[2, 5:] = 0, 0
        ids = ids.masked_fill(mask == 0, 0)
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_equals_eager_layer_by_layer(name: str, padded: bool) -> None:
    inputs = batch(padded)
    eager = random_model(ARCHITECTURES[name], attn_implementation="eager")
    ours = open_attention(random_model(ARCHITECTURES[name]))
    with torch.no_grad():
        expected = eager(**inputs, output_attentions=True, output_hidden_states=True)
        with watching(ours, capture := Capture()):
            found = ours(**inputs, output_hidden_states=True)
    assert len(capture.patterns) == len(expected.attentions) == LAYERS
    real = inputs["attention_mask"].bool()
    for layer in range(LAYERS):
        assert capture.patterns[layer].shape == (3, HEADS, 20, 20)
        for row in range(3):
            n = int(real[row].sum())
            a = capture.patterns[layer][row, :, :n, :n]
            b = expected.attentions[layer][row, :, :n, :n]
            torch.testing.assert_close(a, b, atol=TOLERANCE, rtol=0)
    for a, b in zip(found.hidden_states, expected.hidden_states, strict=True):
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


def test_patterns_are_not_uniform_here() -> None:
    """The other tests would see nothing if the tiny models attended uniformly."""
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with torch.no_grad(), watching(model, capture := Capture()):
        model(**batch(padded=False))
    assert all(pattern.max() > 4 / 20 for pattern in capture.patterns)


def by_hand(model: torch.nn.Module, inputs: dict, change) -> torch.Tensor:
    """BERT's encoder written out; `change(layer, pattern)` and the heads' gates per layer."""
    mask = inputs["attention_mask"]
    hidden = model.embeddings(input_ids=inputs["input_ids"])
    for number, layer in enumerate(model.encoder.layer):
        own = layer.attention.self
        parts = [
            linear(hidden).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for linear in (own.query, own.key, own.value)
        ]
        scores = parts[0] @ parts[1].transpose(2, 3) / parts[0].shape[-1] ** 0.5
        scores = scores.masked_fill(mask[:, None, None, :] == 0, -torch.inf)
        pattern, gate = change(number, scores.softmax(-1))
        mixed = (pattern @ parts[2] * gate[:, :, None, None]).transpose(1, 2).flatten(2)
        hidden = layer.output(
            layer.intermediate(attended := layer.attention.output(mixed, hidden)), attended
        )
    return hidden


def test_uniform_equals_attention_written_out() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    inputs = batch(padded=True)

    def change(layer: int, pattern: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if layer == 1:
            for row, length in enumerate(inputs["attention_mask"].sum(1)):
                for head in (0, 2):
                    pattern[row, head] = 0
                    pattern[row, head, :, :length] = 1 / length
        return pattern, torch.ones(1, HEADS)

    with torch.no_grad():
        expected = by_hand(model, inputs, change)
        plain = model(**inputs).last_hidden_state
        with watching(model, Uniform({(1, 0), (1, 2)})):
            found = model(**inputs).last_hidden_state
        after = model(**inputs).last_hidden_state
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(found[real], expected[real], atol=1e-5, rtol=1e-5)
    assert (found[real] - plain[real]).abs().max() > 1e-2
    assert torch.equal(after, plain)


def test_gates_equal_attention_written_out() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    inputs = batch(padded=True)
    xi = torch.rand(3, LAYERS, HEADS, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = by_hand(model, inputs, lambda layer, pattern: (pattern, xi[:, layer]))
        with watching(model, Gates(xi)):
            found = model(**inputs).last_hidden_state
        with watching(model, Gates(torch.ones(LAYERS, HEADS))):
            neutral = model(**inputs).last_hidden_state
        plain = model(**inputs).last_hidden_state
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(found[real], expected[real], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(neutral, plain)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_gate_of_zero_equals_values_of_zero(name: str) -> None:
    """Zeroing the head's slice of what enters the output projection is the same thing."""
    model = open_attention(random_model(ARCHITECTURES[name]))
    inputs = batch(padded=False)
    xi = torch.ones(LAYERS, HEADS)
    xi[1, 3] = 0

    class Slow(Watcher):
        def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
            if layer == 1:
                output = output.clone()
                output[:, 3] = 0
            return output

    with torch.no_grad():
        with watching(model, Gates(xi)):
            found = model(**inputs).last_hidden_state
        with watching(model, Slow()):
            expected = model(**inputs).last_hidden_state
    torch.testing.assert_close(found, expected)


def test_per_example_gate_gradients_equal_finite_differences() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"])).double()
    inputs = batch(padded=True)
    real = inputs["attention_mask"].bool()

    def losses(xi: torch.Tensor) -> torch.Tensor:
        with watching(model, Gates(xi)):
            hidden = model(**inputs).last_hidden_state
        return (hidden.sin() * real[..., None]).sum((1, 2))

    xi = torch.ones(3, LAYERS, HEADS, dtype=torch.float64, requires_grad=True)
    losses(xi).sum().backward()
    step = 1e-5
    with torch.no_grad():
        for layer, head in [(0, 1), (1, 3), (2, 0)]:
            change = torch.zeros_like(xi)
            change[:, layer, head] = step
            slope = (losses(xi + change) - losses(xi - change)) / (2 * step)
            torch.testing.assert_close(xi.grad[:, layer, head], slope, atol=1e-5, rtol=1e-4)


def test_reading_in_training_mode_is_refused() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"])).train()
    with pytest.raises(RuntimeError, match="eval mode"), watching(model, Capture()):
        model(**batch(padded=False))


def test_nan_is_refused() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with torch.no_grad():
        model.encoder.layer[1].attention.self.query.bias[0] = torch.nan
    with pytest.raises(RuntimeError, match="layer 2"), watching(model, Capture()):
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


def test_watching_needs_an_opened_model() -> None:
    model = random_model(ARCHITECTURES["bert"])
    with pytest.raises(RuntimeError, match="open_attention"), watching(model, Capture()):
        pass


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
