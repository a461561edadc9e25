"""Interventions on decoders, against a Llama with grouped queries written out token by token."""

from collections.abc import Callable

import pytest
import torch
from transformers import PreTrainedModel

from tests.core.tiny_decoders import HEADS, KV_HEADS, LAYERS, LLAMA, WIDTH, random_decoder
from tests.core.tiny_models import uniform_heads
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.interventions import Disabled, Gates

LENGTHS = (7, 4)
DIM = WIDTH // HEADS


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    return open_attention(random_decoder(LLAMA).double())


def inputs() -> dict[str, torch.Tensor]:
    ids = torch.randint(1, 300, (2, max(LENGTHS)), generator=torch.Generator().manual_seed(5))
    mask = (torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]).long()
    return {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask}


def rotated(vector: torch.Tensor, place: int) -> torch.Tensor:
    """One head's query or key [dim] at its place: pairs (i, i + dim / 2) are turned."""
    half = DIM // 2
    angles = place / 10000.0 ** (torch.arange(half, dtype=torch.float64) / half)
    a, b = vector[:half], vector[half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])


def by_hand(
    model: PreTrainedModel,
    ids: torch.Tensor,
    weigh: Callable[[int, int, torch.Tensor], torch.Tensor] = lambda layer, head, row: row,
    mix: Callable[[int, int, torch.Tensor], torch.Tensor] = lambda layer, head, output: output,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [token, word] of one text, and each head's outputs [layer, head, token, dim].

    `weigh` may change what a head's query attends to, [key up to it], and `mix` its output [dim].
    """
    body, n = model.model, len(ids)
    hidden = body.embed_tokens(ids)
    outputs = torch.zeros(LAYERS, HEADS, n, DIM, dtype=torch.float64)
    for number, layer in enumerate(body.layers):
        part = layer.self_attn
        normed = layer.input_layernorm(hidden)
        query, key, value = (
            linear(normed).view(n, -1, DIM) for linear in (part.q_proj, part.k_proj, part.v_proj)
        )
        for head in range(HEADS):
            shared = head * KV_HEADS // HEADS  # heads 0 and 1 share the first
            for i in range(n):
                scores = [
                    rotated(query[i, head], i) @ rotated(key[j, shared], j) / DIM**0.5
                    for j in range(i + 1)
                ]
                row = weigh(number, head, torch.stack(scores).softmax(0))
                mixed = sum(row[j] * value[j, shared] for j in range(i + 1))
                outputs[number, head, i] = mix(number, head, mixed)
        hidden = hidden + part.o_proj(outputs[number].transpose(0, 1).flatten(1))
        hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
    return model.lm_head(body.norm(hidden)), outputs


def assert_equal(model: PreTrainedModel, watcher: object, **changes: Callable) -> None:
    """The logits of a padded batch under `watcher` are those of each text written out."""
    batch = inputs()
    with torch.no_grad():
        with watching(model, *([watcher] if watcher else [])):
            actual = model(**batch).logits
        for row, n in enumerate(LENGTHS):
            expected, _ = by_hand(model, batch["input_ids"][row, :n], **changes)
            torch.testing.assert_close(actual[row, :n], expected, atol=1e-5, rtol=1e-5)


def test_a_forward_pass_equals_attention_written_out(model: PreTrainedModel) -> None:
    assert_equal(model, None)


def test_uniform_is_one_over_the_tokens_up_to_the_query(model: PreTrainedModel) -> None:
    def weigh(layer: int, head: int, row: torch.Tensor) -> torch.Tensor:
        return torch.full_like(row, 1 / len(row)) if (layer, head) in chosen else row

    chosen = {(0, 1), (1, 2)}
    assert_equal(model, uniform_heads(model, chosen), weigh=weigh)


def test_gates_are_of_query_heads(model: PreTrainedModel) -> None:
    xi = torch.rand(LAYERS, HEADS, generator=torch.Generator().manual_seed(0)).double()
    assert_equal(model, Gates(xi), mix=lambda layer, head, output: output * xi[layer, head])


def test_average_outputs_fix_a_head(model: PreTrainedModel) -> None:
    ids = inputs()["input_ids"]
    with torch.no_grad():
        found = [by_hand(model, ids[row, :n])[1] for row, n in enumerate(LENGTHS)]
    means = torch.cat(found, dim=2).mean(2)
    chosen = {(0, 3), (1, 0)}

    def mix(layer: int, head: int, output: torch.Tensor) -> torch.Tensor:
        return means[layer, head] if (layer, head) in chosen else output

    heads = torch.zeros(1, LAYERS, HEADS, dtype=torch.bool)
    for layer, head in chosen:
        heads[0, layer, head] = True
    assert_equal(model, Disabled(heads, "mean", means[None, :, :, None]), mix=mix)
