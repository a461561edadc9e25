"""Parts of attention blocks, mixing ratios and value zeroing, against plain loops over eager."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, GraniteConfig, PreTrainedModel

from tests.battery.plain_heads import plain_heads
from tests.core.test_value_norms import with_biases
from tests.core.tiny_decoders import GPT2, LLAMA, random_decoder
from tests.core.tiny_models import HEADS, random_tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import open_attention
from workflow_scripts.core.model.head_maps import output_maps
from workflow_scripts.mixing import mixing_ratio, value_zeroing
from workflow_scripts.mixing.block_parts import blocks, check_residual

KINDS: dict[str, Callable[[], PreTrainedModel]] = {
    "bert": lambda: with_biases("bert"),
    "distilbert": lambda: with_biases("distilbert"),
    "gpt2": lambda: random_decoder(GPT2).transformer,
    "llama": lambda: random_decoder(LLAMA).model,
}
LENGTH = 7
TOKENS = random_tokens([LENGTH])[0]


def layers_of(model: PreTrainedModel) -> torch.nn.ModuleList:
    names = {"bert": "encoder.layer", "distilbert": "transformer.layer", "gpt2": "h"}
    return model.get_submodule(names.get(model.config.model_type, "layers"))


def layer_outputs(model: PreTrainedModel) -> list[torch.Tensor]:
    """What each layer outputs on the text, [token, hidden]."""
    found = []
    hooks = [
        layer.register_forward_hook(
            lambda _, __, out: found.append((out[0] if isinstance(out, tuple) else out)[0])
        )
        for layer in layers_of(model)
    ]
    with torch.no_grad():
        model(**running.pad([TOKENS], model))
    for hook in hooks:
        hook.remove()
    return found


def block_sums(model: PreTrainedModel) -> list[torch.Tensor]:
    """What each attention block outputs, after its norm in an encoder, [token, hidden]."""
    kind, found, hooks = model.config.model_type, [], []
    for layer in layers_of(model):
        if kind == "bert":
            module, pre = layer.attention.output, False
        elif kind == "distilbert":
            module, pre = layer.sa_layer_norm, False
        else:  # what the second norm reads
            module, pre = (layer.ln_2 if kind == "gpt2" else layer.post_attention_layernorm), True
        hooks.append(
            module.register_forward_pre_hook(lambda _, args: found.append(args[0][0]))
            if pre
            else module.register_forward_hook(lambda _, __, out: found.append(out[0]))
        )
    with torch.no_grad():
        model(**running.pad([TOKENS], model))
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_parts_and_biases_sum_to_the_blocks_output(kind: str) -> None:
    model = KINDS[kind]()
    expected = block_sums(model)
    opened = open_attention(model)
    found = list(blocks(opened, output_maps(opened), TOKENS))
    assert len(found) == len(expected)
    for block, output in zip(found, expected, strict=True):
        total = block.total
        if block.norm is not None:
            parts = (block.entering, block.own, block.context, block.bias.expand_as(block.own))
            total = sum(block.normed(part) for part in parts) + block.norm.bias
        torch.testing.assert_close(total, output, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(block.own + block.context, block.read.sum(1))


def plain_ratios(entering: np.ndarray, pattern: np.ndarray, f: np.ndarray, norm) -> dict:
    """The formula in loops: `pattern` [head, query, key], `f` [head, key, hidden]."""
    found = {name: [] for name in ("attention", "residual", "norm")}
    for i in range(len(entering)):
        own, context = np.zeros(entering.shape[1]), np.zeros(entering.shape[1])
        for head in range(len(pattern)):
            for j in range(len(entering)):
                if i == j:
                    own += pattern[head, i, j] * f[head, j]
                else:
                    context += pattern[head, i, j] * f[head, j]
        pairs = {"attention": (context, own), "residual": (context, own + entering[i])}
        if norm is not None:
            module, bias = norm
            whole = own + context + entering[i] + bias
            sd = np.sqrt(whole.var() + module.eps)
            gamma = module.weight.detach().double().numpy()
            pairs["norm"] = tuple((x - x.mean()) / sd * gamma for x in pairs["residual"])
        for name, (mixing, kept) in pairs.items():
            one, other = np.linalg.norm(mixing), np.linalg.norm(kept)
            found[name].append(100 * one / (one + other))
    return {name: np.mean(values) for name, values in found.items() if values}


def test_ratios_of_an_encoder_in_loops() -> None:
    model = with_biases("bert")
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(
            **running.pad([TOKENS], model), output_attentions=True, output_hidden_states=True
        )
    opened = open_attention(with_biases_as(model))
    found = list(blocks(opened, output_maps(opened), TOKENS))
    for number, layer in enumerate(model.encoder.layer):
        x = out.hidden_states[number][0].double().detach().numpy()
        value, merge = layer.attention.self.value, layer.attention.output.dense
        v = x @ value.weight.double().detach().numpy().T + value.bias.double().detach().numpy()
        v = v.reshape(LENGTH, HEADS, -1)
        w = merge.weight.double().detach().numpy().reshape(x.shape[1], HEADS, -1)
        f = np.einsum("khd,whd->hkw", v, w)
        pattern = out.attentions[number][0].double().numpy()
        norm = layer.attention.output.LayerNorm, merge.bias.double().detach().numpy()
        expected = plain_ratios(x, pattern, f, norm)
        assert mixing_ratio.ratios(found[number]) == pytest.approx(expected, rel=1e-4)
        assert 0 < expected["norm"] < 100 and expected["residual"] < expected["attention"]


def with_biases_as(model: PreTrainedModel) -> PreTrainedModel:
    """Another model with the same weights."""
    other = type(model)(model.config).eval()
    other.load_state_dict(model.state_dict())
    return other


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_ratios_of_a_decoder_in_loops(config) -> None:
    model = random_decoder(config)
    heads = plain_heads(model, TOKENS.ids)
    body = model.base_model
    with torch.no_grad():
        states = body(**running.pad([TOKENS], body), output_hidden_states=True).hidden_states
    opened = open_attention(body)
    for number, block in enumerate(blocks(opened, output_maps(opened), TOKENS)):
        f = heads.value[number] @ heads.out[number]
        x = states[number][0].double().numpy()
        expected = plain_ratios(x, heads.pattern[number], f, None)
        assert mixing_ratio.ratios(block) == pytest.approx(expected, rel=1e-4)


def zeroed_plainly(model: PreTrainedModel, layer: int, token: int) -> torch.Tensor:
    """The layer's outputs where the projection of values is 0 at one token."""
    kind, of = model.config.model_type, layers_of(model)[layer]

    def zero(module: torch.nn.Module, args: tuple, out: torch.Tensor) -> torch.Tensor:
        out = out.clone()
        width = out.shape[-1] // 3 if kind == "gpt2" else out.shape[-1]
        out[:, token, -width:] = 0
        return out

    names = {"bert": "attention.self.value", "distilbert": "attention.v_lin"}
    name = names.get(kind, "attn.c_attn" if kind == "gpt2" else "self_attn.v_proj")
    hook = of.get_submodule(name).register_forward_hook(zero)
    outputs = layer_outputs(model)[layer]
    hook.remove()
    return outputs


@pytest.mark.parametrize("kind", KINDS)
def test_zeroed_values_equal_the_whole_model_run_for_each_token(kind: str) -> None:
    model = KINDS[kind]()
    plain = layer_outputs(model)
    expected = np.zeros((len(plain), LENGTH, LENGTH))
    for layer, token in np.ndindex(len(plain), LENGTH):
        changed = zeroed_plainly(model, layer, token)
        for i in range(LENGTH):
            one, other = plain[layer][i].double(), changed[i].double()
            cosine = float(one @ other / (one.norm() * other.norm()))
            expected[layer, i, token] = 1 - cosine
    expected /= expected.sum(-1, keepdims=True)
    found = value_zeroing.scores(open_attention(model), TOKENS, 3)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    if kind in ("gpt2", "llama"):
        assert (np.triu(found, 1) < 1e-6).all()


def test_measures_by_hand() -> None:
    zeroed = np.array([[1.0, 0, 0], [0.75, 0.25, 0], [0.5, 0.3, 0.2]])
    weights = np.array([[1.0, 0, 0], [0.6, 0.4, 0], [0.5, 0.2, 0.3]])
    norms = np.array([[1.0, 0, 0], [100, 300, 0], [8, 10, 2.0]])
    found = value_zeroing.measures(zeroed, weights, norms)
    assert set(found) == set(value_zeroing.MEASURES)
    assert found["first"] == pytest.approx(0.625) and found["self"] == pytest.approx(0.225)
    assert found["weights"] == pytest.approx(1.0)
    # Of pairs: scores 0.75, 0.5 and 0.3, shares of norms 0.25, 0.4 and 0.5, norms 100, 8 and 10.
    assert found["norms"] == pytest.approx(-1.0)
    assert found["top_weights"] == 1.0 and found["top_norms"] == 0.0


def test_the_first_tokens_by_hand() -> None:
    """Three queries count, the first does not; a token may be its own; a hidden key is none."""
    zeroed = np.array([[0.1, 0.9, 0, 0], [0.3, 0.7, 0, 0], [0.5, 0.3, 0.2, 0], [0, 0.1, 0, 0.9]])
    weights = np.array([[1, 0, 0, 0], [0.4, 0.6, 0, 0], [0.2, 0.5, 0.3, 0], [0.7, 0.1, 0.1, 0.1]])
    norms = np.array([[1, 0, 0, 0], [2.0, 5, 0, 0], [9, 1, 1, 0], [3, 1, 1, 2]])
    found = value_zeroing.measures(zeroed, weights, norms)
    assert found["top_weights"] == pytest.approx(1 / 3)
    assert found["top_norms"] == pytest.approx(2 / 3)
    zeroed[2, 3] = 1.0  # a key that the third query does not see
    assert value_zeroing.measures(zeroed, weights, norms)["top_norms"] == pytest.approx(2 / 3)


def test_a_norm_after_attention_is_refused() -> None:
    config = Gemma2Config(**LLAMA.to_diff_dict() | {"model_type": "gemma2", "head_dim": 8})
    model = open_attention(random_decoder(config).model)
    with pytest.raises(InputError, match=r"gemma2: a \w+ stands between its attention"):
        check_residual(model)


def test_a_factor_of_the_residual_stream_is_refused_for_ratios_alone() -> None:
    sizes = {key: value for key, value in LLAMA.to_diff_dict().items() if key != "model_type"}
    model = open_attention(random_decoder(GraniteConfig(**sizes, residual_multiplier=0.22)).model)
    with pytest.raises(
        InputError, match=r"^granite: its residual .*; take ratio out of .*measures$"
    ):
        list(blocks(model, output_maps(model), TOKENS))
    parts = blocks(model, output_maps(model), TOKENS, with_residual=False)
    assert len([block.read for block in parts]) == len(model.layers)
