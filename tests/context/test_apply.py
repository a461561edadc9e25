"""A model that a list is applied to computes what transformers does with a hand-made mask."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import MistralConfig, OPTConfig, PretrainedConfig, PreTrainedModel, Qwen2Config

from tests.core.tiny_decoders import GPT2, HEADS, KV_HEADS, LAYERS, LLAMA, random_decoder
from workflow_scripts import context
from workflow_scripts.context import files
from workflow_scripts.core.errors import InputError

TOKENS = torch.from_numpy(np.random.default_rng(0).integers(1, 300, (2, 40)))
SINKS, RECENT = 2, 5
OPT = OPTConfig(**LLAMA.to_diff_dict(), ffn_dim=32, word_embed_proj_dim=16)
WINDOWED = MistralConfig(**LLAMA.to_diff_dict() | {"sliding_window": 9})


def lists(kv_heads: int) -> list[np.ndarray]:
    """One head of each layer streams, all heads of a layer, and all."""
    one, layer = np.ones((2, LAYERS, kv_heads))
    one[0, -1] = one[1, 0] = layer[1] = 0
    return [one, layer, np.zeros_like(one)]


def masked_by_hand(model: PreTrainedModel, full: np.ndarray) -> PreTrainedModel:
    """With a mask [1, head, query, key] for each attention module."""
    modules = [
        each for name, each in model.named_modules() if name.endswith((".self_attn", ".attn"))
    ]
    for module, of_heads in zip(modules, full.repeat(HEADS // full.shape[1], 1), strict=True):
        mask = torch.full((1, HEADS, 40, 40), torch.finfo(torch.float32).min)
        for head, query, key in np.ndindex(HEADS, 40, 40):
            near = key < SINKS or query - key < RECENT
            if key <= query and (of_heads[head] > 0.5 or near):
                mask[0, head, query, key] = 0
        module.register_forward_pre_hook(
            lambda _, args, given, mask=mask: (args, given | {"attention_mask": mask}),
            with_kwargs=True,
        )
    return model


def losses(model: PreTrainedModel) -> np.ndarray:
    with torch.no_grad():
        logits = model(input_ids=TOKENS).logits[:, :-1]
    return cross_entropy(logits.transpose(1, 2), TOKENS[:, 1:], reduction="none").numpy()


def apply(model: PreTrainedModel, folder: Path, full: np.ndarray, sinks: int = SINKS) -> None:
    files.write_heads(folder, files.HeadList(full, sinks, RECENT))
    context.apply(model, folder / files.HEADS)


@pytest.mark.parametrize(
    ("config", "kv_heads"),
    [(LLAMA, KV_HEADS), (GPT2, HEADS), (OPT, HEADS)],
    ids=["llama", "gpt2", "opt"],
)
def test_losses_are_those_of_a_plain_mask(
    config: PretrainedConfig, kv_heads: int, tmp_path: Path
) -> None:
    model = random_decoder(config)
    plain = losses(model)
    for full in lists(kv_heads):
        apply(model, tmp_path, full)
        script = masked_by_hand(random_decoder(config, attn_implementation="eager"), full)
        np.testing.assert_allclose(losses(model), losses(script), atol=1e-5)
        assert np.abs(losses(model) - plain).max() > 1e-3
    with pytest.raises(InputError, match=r"\(2, 1\) layers and key-value heads"):
        apply(model, tmp_path, np.ones((2, 1)))
    np.testing.assert_allclose(losses(model), losses(script), atol=1e-5)
    np.testing.assert_allclose(losses(context.apply(model, None)), plain, atol=1e-5)


@pytest.mark.parametrize("config", [LLAMA, WINDOWED], ids=["llama", "sliding window"])
def test_generation_with_a_cache_and_padding_is_that_without(
    config: PretrainedConfig, tmp_path: Path
) -> None:
    model = random_decoder(config)
    apply(model, tmp_path, lists(KV_HEADS)[2])
    options = {"max_new_tokens": 12, "eos_token_id": None, "pad_token_id": 0}
    options |= {"output_logits": True, "return_dict_in_generate": True}
    padded, mask = TOKENS[:, :20].clone(), torch.ones(2, 20, dtype=torch.long)
    padded[1, :6] = mask[1, :6] = 0
    cached = torch.stack(model.generate(padded, attention_mask=mask, **options).logits)
    for row, start in enumerate((0, 6)):
        text = TOKENS[row : row + 1, start:20]
        alone = torch.stack(model.generate(text, use_cache=False, **options).logits)
        np.testing.assert_allclose(cached[:, row], alone[:, 0], atol=1e-4)
    with pytest.raises(InputError, match="a static cache"):
        model.generate(text, cache_implementation="static", **options)


def test_layers_with_a_window_are_those_whose_heads_all_stream(tmp_path: Path) -> None:
    sizes = LLAMA.to_diff_dict() | {"use_sliding_window": True}
    full = lists(KV_HEADS)[1]
    types = files.layer_types(files.HeadList(full, 0, RECENT))
    assert types["layer_types"] == ["full_attention", "sliding_attention"]
    windowed = losses(random_decoder(Qwen2Config(**sizes | types)))
    model = random_decoder(Qwen2Config(**sizes | {"layer_types": ["full_attention"] * LAYERS}))
    apply(model, tmp_path, full, sinks=0)
    np.testing.assert_allclose(losses(model), windowed, atol=1e-5)
