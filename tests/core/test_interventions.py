"""Interventions against attention written out."""

import torch

from tests.core.builders import batch
from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, random_model
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.interventions import Gates


def by_hand(model: torch.nn.Module, inputs: dict, xi: torch.Tensor) -> torch.Tensor:
    """BERT's encoder written out, with gates [example, layer, head]."""
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
        mixed = scores.softmax(-1) @ parts[2] * xi[:, number, :, None, None]
        mixed = mixed.transpose(1, 2).flatten(2)
        hidden = layer.output(
            layer.intermediate(attended := layer.attention.output(mixed, hidden)), attended
        )
    return hidden


def test_gates_equal_attention_written_out() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    inputs = batch(padded=True)
    xi = torch.rand(3, LAYERS, HEADS, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = by_hand(model, inputs, xi)
        with watching(model, Gates(xi)):
            actual = model(**inputs).last_hidden_state
        with watching(model, Gates(torch.ones(LAYERS, HEADS))):
            neutral = model(**inputs).last_hidden_state
        plain = model(**inputs).last_hidden_state
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(actual[real], expected[real], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(neutral, plain)
