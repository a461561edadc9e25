"""The engine for causal models gives the losses of one head at a time, however batched."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, MistralConfig, PretrainedConfig, PreTrainedModel

from tests.core.test_ablation_engine import Plainly, some_outputs
from tests.core.tiny_decoders import (
    GPT2,
    HEADS,
    KV_HEADS,
    LAYERS,
    LLAMA,
    VOCABULARY,
    WIDTH,
    random_decoder,
)
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import causal_engine
from workflow_scripts.core.model.ablation_engine import (
    GROUP,
    MODES,
    all_but_one,
    one_head,
    one_layer,
    variants_of,
)
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.causal_engine import ablate

DIM = WIDTH // HEADS
MISTRAL = MistralConfig(**LLAMA.to_diff_dict() | {"model_type": "mistral"}, sliding_window=4)
CONFIGS = {"gpt2": GPT2, "llama": LLAMA, "mistral": MISTRAL}
ADAPTED = {
    "gpt_neo": {"num_layers": LAYERS, "num_heads": HEADS, "window_size": 4},
    "bloom": {"n_layer": LAYERS, "n_head": HEADS},
    "falcon": {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "alibi": True},
    "mpt": {"n_layers": LAYERS, "n_heads": HEADS},
}
ADAPTED["gpt_neo"]["attention_types"] = [[["local", "global"], 1]]
for _kind, _keys in ADAPTED.items():
    CONFIGS[_kind] = AutoConfig.for_model(_kind, **_keys, vocab_size=VOCABULARY)
    CONFIGS[_kind].hidden_size = WIDTH
LENGTHS = (9, 14, 5, 9)
TOLERANCE = 1e-5
NONE, EVERY = np.zeros((1, LAYERS, HEADS), bool), np.ones((1, LAYERS, HEADS), bool)
SETS = np.concatenate(
    [one_head(LAYERS, HEADS), all_but_one(LAYERS, HEADS), one_layer(LAYERS, HEADS), NONE, EVERY]
)


def opened(config: PretrainedConfig) -> PreTrainedModel:
    return open_attention(random_decoder(config))


def some_tokens() -> list[Tokens]:
    rng = np.random.default_rng(0)
    texts = [rng.integers(1, VOCABULARY, length).astype(np.int32) for length in LENGTHS]
    return [Tokens(str(at), ids, ids, ids, len(ids)) for at, ids in enumerate(texts)]


def nats(model: PreTrainedModel, example: Tokens) -> np.ndarray:
    ids = torch.from_numpy(example.ids).long()
    with torch.no_grad():
        logits = model(input_ids=ids[None]).logits[0, :-1]
    return cross_entropy(logits, ids[1:], reduction="none").numpy()


class Rows(Plainly):
    """As Plainly; with uniform attention a query sees itself and the tokens before it."""

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        pattern = pattern.clone()
        for head, query in np.ndindex(HEADS, pattern.shape[2]):
            if self.mode == "uniform" and self.heads[layer, head]:
                seen = pattern[0, head, query] > 0
                pattern[0, head, query] = seen / seen.sum()
        return pattern


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        (name, mode)
        for name in CONFIGS
        for mode in (MODES if name in ("gpt2", "llama") else ("uniform", "resample"))
    ],
)
def test_equals_the_whole_model_one_text_at_a_time(name: str, mode: str) -> None:
    model, tokens = opened(CONFIGS[name]), some_tokens()
    instead = some_outputs(mode, LAYERS, HEADS, DIM)
    actual = ablate(model, tokens, SETS, mode, instead, pass_tokens=100)
    assert actual.shape == (len(SETS), len(tokens), max(LENGTHS) - 1)
    for variant, row in np.ndindex(len(SETS), len(tokens)):
        outputs = instead and instead.outputs_for([row], len(tokens[row]))[0]
        with watching(model, Rows(SETS[variant], mode, outputs)):
            expected = nats(model, tokens[row])
        found, beyond = np.split(actual[variant, row], [len(expected)])
        np.testing.assert_allclose(found, expected, atol=TOLERANCE)
        assert np.isnan(beyond).all()
    changed = np.nanmax(np.abs(actual - actual[-2]), axis=(1, 2))
    assert ((changed > 1e-4) == SETS.any(axis=(1, 2))).all()


def test_layers_below_a_head_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = opened(LLAMA), some_tokens()
    monkeypatch.setattr(causal_engine, "_usable", lambda model, _: causal_engine.layer_list(model))
    rows = [0] * LAYERS
    for number, layer in enumerate(model.model.layers):

        def count(_: torch.nn.Module, args: tuple, number: int = number) -> None:
            rows[number] += len(args[0])

        layer.mlp.register_forward_pre_hook(count)
    ablate(model, tokens, one_head(LAYERS, HEADS), "zero", pass_tokens=10_000)
    assert rows == [len(tokens) * (1 + HEADS), len(tokens) * (1 + 2 * HEADS)]


def test_a_model_that_cannot_run_from_a_layer_up_runs_whole() -> None:
    model, tokens = opened(LLAMA), some_tokens()
    expected = ablate(model, tokens, SETS, "zero")
    below = []  # what an upper layer needs of the lower one, as where they share keys
    model.model.layers[0].mlp.register_forward_pre_hook(lambda *call: below.append(call))
    model.model.layers[1].mlp.register_forward_pre_hook(lambda *call: below.pop() and None)
    np.testing.assert_allclose(ablate(model, tokens, SETS, "zero"), expected, atol=TOLERANCE)


def test_groups_are_of_neighbouring_heads_with_one_key_value_head() -> None:
    names, sets = variants_of({GROUP: ["zero"]}, LAYERS, HEADS, KV_HEADS)
    assert names.iloc[-1].tolist() == [GROUP, "zero", LAYERS - 1, KV_HEADS - 1]
    assert len(variants_of({GROUP: ["zero"]}, LAYERS, HEADS, HEADS)[0]) == 1
    groups = sets[1:]
    assert groups.shape == (LAYERS * KV_HEADS, LAYERS, HEADS)
    assert groups[KV_HEADS].tolist() == [[False] * 4, [True, True, False, False]]
    model, share = opened(LLAMA), HEADS // KV_HEADS
    attention = model.model.layers[1].self_attn
    with torch.no_grad():  # a key-value head without values: none of its heads outputs anything
        attention.v_proj.weight[:DIM] = 0
    assert share == 2
    tokens = some_tokens()
    plain, without = ablate(model, tokens, np.concatenate([NONE, groups[[KV_HEADS]]]), "zero")
    np.testing.assert_allclose(plain, without, atol=TOLERANCE)


def test_tokens_are_unembedded_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = some_tokens()
    expected = ablate(opened(LLAMA), tokens, SETS, "zero")
    monkeypatch.setattr(causal_engine, "UNEMBEDDED", {"cpu": 5})
    actual = ablate(opened(LLAMA), tokens, SETS, "zero")
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)
