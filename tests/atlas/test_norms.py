"""The norms of what heads read, against the layers' own weights."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    enlarge,
    random_model,
    random_tokens,
    tokenizer,
    write_card,
)
from workflow_scripts.atlas import atlas_norms as norms
from workflow_scripts.atlas.encoding import bound, decode
from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.model import attention, padding

LAYERED = ("bert", "roberta", "electra", "distilbert")
MODULES = {
    "bert": ("encoder.layer", "attention.self.value", "attention.output.dense"),
    "distilbert": ("transformer.layer", "attention.v_lin", "attention.out_lin"),
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


def with_biases(name: str) -> PreTrainedModel:
    """A random model whose biases are not 0, as fresh ones are."""
    model = random_model(copy.deepcopy(ARCHITECTURES[name]))
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if key.endswith("bias"):
                parameter.add_(torch.randn_like(parameter))
    return model.eval()


def example(length: int = 9) -> CachedExample:
    tokens = random_tokens([length])[0]
    pattern = np.zeros((LAYERS, HEADS, length, length), np.float16)
    return CachedExample("e", tokens.ids, tokens.word, tokens.segment, pattern)


@pytest.mark.parametrize("name", LAYERED)
def test_norms_are_those_of_the_weights(name: str) -> None:
    model = with_biases(name)
    batch = padding.pad(random_tokens([9]), model)
    with torch.inference_mode():
        hidden = model(**batch, output_hidden_states=True).hidden_states
        expected = plain(model, name, hidden)
    opened = attention.open_attention(model)
    found = norms.value_norms(opened, norms.projections(opened), example())
    assert found.shape == (LAYERS, HEADS, 9)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert np.ptp(expected) > 1


@pytest.mark.parametrize("name", LAYERED)
def test_weights_times_what_is_read_make_the_layers_output(name: str) -> None:
    """Sum over heads and keys of alpha f(x), and the merge's bias, is what the layer outputs."""
    model = attention.open_attention(with_biases(name))
    layers, _, merge_name = MODULES.get(name, MODULES["bert"])
    merge = model.get_submodule(layers)[1].get_submodule(merge_name)
    outputs = []
    hook = merge.register_forward_hook(lambda _, __, output: outputs.append(output))
    capture, watcher = attention.Capture(), norms.Values()
    with torch.no_grad(), attention.watching(model, capture, watcher):
        model(**padding.pad(random_tokens([9]), model))
        read = norms.projections(model)[1].merged_by_head(watcher.values[1].transpose(1, 2))
        sums = torch.einsum("bhqk,hbkw->bqw", capture.patterns[1], read) + merge.bias
    hook.remove()
    torch.testing.assert_close(sums, outputs[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_collecting_values_changes_nothing(name: str) -> None:
    model = attention.open_attention(random_model(ARCHITECTURES[name]))
    batch = padding.pad(random_tokens([9]), model)
    with torch.inference_mode():
        expected = model(**batch).last_hidden_state
        with attention.watching(model, watcher := norms.Values()):
            torch.testing.assert_close(model(**batch).last_hidden_state, expected)
    assert len(watcher.values) == LAYERS


def test_values_are_not_read_in_training() -> None:
    model = attention.open_attention(random_model(ARCHITECTURES["bert"])).train()
    with attention.watching(model, norms.Values()), pytest.raises(RuntimeError, match="eval"):
        model(**padding.pad(random_tokens([5]), model))


def prepared(name: str, folder: Path) -> dict:
    """The inputs of the rule: a saved model, its card, and a cache of two texts."""
    torch.manual_seed(0)
    enlarge(random_model(ARCHITECTURES[name])).save_pretrained(folder / "model")
    tokenizer().save_pretrained(folder / "model")
    card = write_card(folder, folder / "model")
    texts = ["the king built a stone river town", "a dog saw her cat near water"]
    write_examples(
        folder / "wiki.jsonl",
        [Example(f"e{k}", "d", "f", (text,)) for k, text in enumerate(texts)],
    )
    cache = write_cache(folder / "wiki.h5", card, folder / "wiki.jsonl")
    inputs = {"model": card, "attention_caches": [cache], "drawings": None}
    options = {"kinds": {"wiki": "text"}, "segments": 2, "examples": 1, "most_tokens": 40}
    return inputs | options | {"device": "cpu", "norms": folder / "norms.json"}


def test_the_file_has_the_chosen_texts(tmp_path: Path) -> None:
    inputs = prepared("bert", tmp_path)
    norms.main(**inputs)
    content = json.loads((tmp_path / "norms.json").read_text(encoding="utf-8"))
    assert list(content["norms"]) == ["wiki-0", "wiki-1"] and content["left_out"] == []
    model = norms.models.load_body(tmp_path / "model", torch.device("cpu"))
    with open_cache(inputs["attention_caches"][0]) as cache:
        opened = attention.open_attention(model)
        expected = norms.value_norms(opened, norms.projections(opened), cache[1])
    entry = content["norms"]["wiki-1"]
    assert (np.abs(decode(entry) - expected) <= bound(expected, entry["largest"]) + 1e-5).all()


def test_unknown_projections_are_reported(tmp_path: Path) -> None:
    norms.main(**prepared("albert", tmp_path))
    content = json.loads((tmp_path / "norms.json").read_text(encoding="utf-8"))
    assert content["norms"] == {}
    assert content["left_out"] == ["tiny: norms, as the projections of albert are not known."]
