"""A head that streams sees the first and last tokens alone, as by a plain mask of transformers."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import PretrainedConfig

from tests.core.test_causal_engine import MISTRAL, NONE, opened, some_tokens
from tests.core.tiny_decoders import HEADS, LAYERS, LLAMA, random_decoder
from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.causal_engine import ablate
from workflow_scripts.core.model.interventions import STREAM, between

SINKS = 2


def by_mask(config: PretrainedConfig, ids: np.ndarray, recent: np.ndarray) -> np.ndarray:
    """Losses [token] of transformers' own model, with a mask [head, query, key] for each layer."""
    model, n = random_decoder(config, attn_implementation="eager"), len(ids)
    window = getattr(config, "sliding_window", None) or n
    for layer, of_heads in zip(model.model.layers, recent, strict=True):
        mask = torch.full((1, HEADS, n, n), torch.finfo(torch.float32).min)
        for head, query, key in np.ndindex(HEADS, n, n):
            last = of_heads[head] or n
            if key <= query < key + window and (key < SINKS or query < key + last):
                mask[0, head, query, key] = 0
        layer.self_attn.register_forward_pre_hook(
            lambda _, args, kwargs, mask=mask: (args, kwargs | {"attention_mask": mask}),
            with_kwargs=True,
        )
    whole = torch.from_numpy(ids).long()
    with torch.no_grad():
        logits = model(input_ids=whole[None]).logits[0, :-1]
    return cross_entropy(logits, whole[1:], reduction="none").numpy()


@pytest.mark.parametrize("config", [LLAMA, MISTRAL], ids=["llama", "sliding window"])
def test_streaming_heads_equal_a_plain_mask(config: PretrainedConfig) -> None:
    groups = np.zeros((LAYERS, HEADS), int)
    groups[0, 2:], groups[1, :2] = 3, 5  # a key-value head of each layer
    alone = 3 * one_head(LAYERS, HEADS)[[0, -1]]
    variants = np.stack([*NONE.astype(int), *alone, groups, np.ones_like(groups)])
    tokens = some_tokens()
    found = ablate(opened(config), tokens, variants, STREAM, pass_tokens=100, sinks=SINKS)
    for variant, row in np.ndindex(found.shape[:2]):
        expected = by_mask(config, tokens[row].ids, variants[variant])
        actual = found[variant, row, : len(expected)]
        np.testing.assert_allclose(actual, expected, atol=1e-5)
    # What a head alone does not see reaches the loss, where a text is longer than what it sees.
    assert (np.nanmax(np.abs(found[1:] - found[0]), axis=2)[:, 1] > 1e-4).all()


def test_hidden_keys_by_hand() -> None:
    hidden = between(2, 6, 1, torch.tensor(3))
    assert hidden.tolist() == [[False, True, *[False] * 4], [False, True, True, *[False] * 3]]
