"""The norms of what heads read, against the layers' own weights and plain loops."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.battery.plain_heads import plain_heads
from tests.core.tiny_decoders import GPT2, LLAMA, random_decoder
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    random_model,
    random_tokens,
    with_biases,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, running
from workflow_scripts.core.model.extraction import Computed
from workflow_scripts.core.model.head_maps import ValueNorms, output_grams

KNOWN = ("bert", "roberta", "electra", "distilbert", "mpnet", "deberta-v2")
MODULES = {
    "bert": ("encoder.layer", "attention.self.value", "attention.output.dense"),
    "distilbert": ("transformer.layer", "attention.v_lin", "attention.out_lin"),
    "mpnet": ("encoder.layer", "attention.attn.v", "attention.attn.o"),
    "deberta-v2": ("encoder.layer", "attention.self.value_proj", "attention.output.dense"),
}


def plain(model: PreTrainedModel, name: str, hidden: list[torch.Tensor]) -> np.ndarray:
    """||(x W_V + b_V) W_O|| head by head and token by token, from the weights in float64."""
    layers, value, merge = MODULES.get(name, MODULES["bert"])
    found = np.zeros((LAYERS, HEADS, hidden[0].shape[1]))
    for number, layer in enumerate(model.get_submodule(layers)):
        read, write = layer.get_submodule(value), layer.get_submodule(merge)
        dim = read.out_features // HEADS
        for head in range(HEADS):
            part = slice(head * dim, (head + 1) * dim)
            w_v, b_v = read.weight[part].double(), read.bias[part].double()
            w_o = write.weight[:, part].double()
            for token, x in enumerate(hidden[number][0].double()):
                found[number, head, token] = (w_o @ (w_v @ x + b_v)).norm()
    return found


def norms_of(model: PreTrainedModel, lengths: list[int]) -> list[tuple]:
    """Of each layer of an opened model: its pattern and its norms."""
    found: list[tuple] = []
    watcher = ValueNorms(output_grams(model), lambda layer, *of: found.append(of))
    with torch.inference_mode(), attention.watching(model, watcher):
        model(**running.pad(random_tokens(lengths), model))
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_norms_are_those_of_the_weights(name: str) -> None:
    model = with_biases(name)
    batch = running.pad(random_tokens([9]), model)
    with torch.inference_mode():
        hidden = model(**batch, output_hidden_states=True).hidden_states
        expected = plain(model, name, hidden)
    found = np.stack([norms[0] for _, norms in norms_of(attention.open_attention(model), [9])])
    assert found.shape == (LAYERS, HEADS, 9)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert np.ptp(expected) > 1


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_norms_of_decoders_are_those_of_the_weights(config) -> None:
    model = random_decoder(config)
    heads = plain_heads(model, random_tokens([9])[0].ids)
    expected = np.linalg.norm(heads.value @ heads.out, axis=-1)
    found = np.stack([norms[0] for _, norms in norms_of(attention.open_attention(model), [9])])
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("name", ["albert", "xlnet"])
def test_unknown_projections_are_refused(name: str) -> None:
    model = attention.open_attention(random_model(ARCHITECTURES[name]))
    message = rf"^{name}: the output projections .* are not known, .* from this model's `chapters`$"
    with pytest.raises(InputError, match=message):
        output_grams(model)


@pytest.mark.parametrize("kind", ["bert", "llama"])
def test_a_reader_hands_on_each_texts_shares(kind: str) -> None:
    """Texts of unlike lengths in one padded batch, as each alone by hand; rows sum to 1."""
    model = with_biases("bert") if kind == "bert" else random_decoder(LLAMA)
    model, tokens = attention.open_attention(model), random_tokens([5, 9, 7])
    computed = Computed(Path("texts.jsonl"), model, tokens, 64, by_norm=True)
    found = {}
    computed.each(lambda part: found.setdefault(part.index, []).append(part.pattern[0]))
    for index, each in enumerate(tokens):
        expected: list[np.ndarray] = []

        def keep(layer: int, pattern, norms, to: list = expected) -> None:
            shares = np.zeros(pattern[0].shape)
            for head, row, key in np.ndindex(*shares.shape):
                shares[head, row, key] = pattern[0, head, row, key] * norms[0, head, key]
            to.append(shares / shares.sum(-1, keepdims=True))

        watcher = ValueNorms(output_grams(model), keep)
        with torch.inference_mode(), attention.watching(model, watcher):
            model(**running.pad([each], model))
        np.testing.assert_allclose(np.stack(found[index]), np.stack(expected), atol=1e-3)
        np.testing.assert_array_equal(np.stack(found[index]), computed[index].pattern)
