"""A decoder's importance is each text's own gradient, and its curve each fold's in turn."""

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.core.test_causal_engine import SETS, opened, some_tokens
from tests.core.tiny_decoders import GPT2, HEADS, KV_HEADS, LAYERS, LLAMA, WIDTH
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine
from workflow_scripts.core.model.causal_engine import Segments, ablate
from workflow_scripts.pruning.next_token_pruning import (
    curve,
    curves,
    gradients,
    group_importance,
    halves,
    plans,
)

DIM = WIDTH // HEADS
DOCUMENTS = ["a", "b", "a", "c"]
SETTINGS = {
    "step": 0.25,
    "strategies": ["importance", "ablation", "random"],
    "importance": {"normalise": False},
    "draws": 2,
}


def by_scaled_weights(model: PreTrainedModel, ids: np.ndarray) -> np.ndarray:
    """dL/d xi [layer, head] of a text, by a gate for each column of the product after attention."""
    gates, hooks = [], []
    for name, module in model.named_modules():
        if name.endswith(("o_proj", "attn.c_proj")):
            gate = torch.ones(HEADS, requires_grad=True)

            def scale(_: torch.nn.Module, given: tuple, gate: torch.Tensor = gate) -> tuple:
                return (given[0] * gate.repeat_interleave(DIM),)

            gates.append(gate)
            hooks.append(module.register_forward_pre_hook(scale))
    whole = torch.from_numpy(ids).long()[None]
    inputs = {"input_ids": whole, "attention_mask": torch.ones_like(whole)}
    causal_engine.token_losses(model, inputs).mean().backward()
    for hook in hooks:
        hook.remove()
    return torch.stack([gate.grad for gate in gates]).numpy()


@pytest.mark.parametrize("config", [LLAMA, GPT2], ids=["grouped", "each its own"])
def test_importance_is_each_texts_own_gradient(config: object) -> None:
    model, tokens = opened(config), some_tokens()
    actual = gradients(model, tokens, batch_tokens=40)
    expected = np.stack([by_scaled_weights(model, text.ids) for text in tokens])
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_halves_keep_documents_whole() -> None:
    first, second = halves(DOCUMENTS, 1)
    assert sorted([*first, *second]) == [0, 1, 2, 3]
    assert (0 in first) == (2 in first)
    with pytest.raises(InputError, match="document 'a': the only one"):
        halves(["a", "a"], 1)


def test_each_fold_is_pruned_in_the_others_order() -> None:
    folds = (np.array([0, 2]), np.array([1, 3]))
    values = np.zeros((4, LAYERS, HEADS))
    values[folds[0]] = np.arange(8).reshape(LAYERS, HEADS)
    values[folds[1]] = -np.arange(8)[::-1].reshape(LAYERS, HEADS)
    found = plans(values, SETTINGS, folds, 1)
    assert list(found) == [("importance", 0), ("random", 0), ("random", 1)]
    of_first, of_second = found["importance", 0]
    assert of_first[1].ravel().nonzero()[0].tolist() == [6, 7]
    assert of_second[1].ravel().nonzero()[0].tolist() == [0, 1]
    assert [mask.sum() for mask in of_first] == [0, 2, 4, 6, 8]


def test_curves_are_of_whole_groups_and_all_segments() -> None:
    model, tokens = opened(LLAMA), some_tokens()
    segments = Segments(tokens, DOCUMENTS)
    folds = halves(DOCUMENTS, 1)
    groups = group_importance(gradients(model, tokens), KV_HEADS)
    found = plans(groups, SETTINGS, folds, 1)
    nats = curves(model, segments, found, folds, 200)["importance", 0]
    for fold, masks in zip(folds, found["importance", 0], strict=True):
        heads = masks.repeat(HEADS // KV_HEADS, axis=2)
        expected = np.nansum(ablate(model, tokens, heads, "zero"), axis=2)[:, fold]
        np.testing.assert_allclose(nats[:, fold], expected, rtol=1e-5)
    whole = np.nansum(ablate(model, tokens, SETS[-2:], "zero"), axis=2)
    np.testing.assert_allclose(nats[[0, -1]], whole, rtol=1e-5)
    frame = curve(nats, segments, 100, 1)
    assert frame["nats"].tolist() == pytest.approx((nats.sum(1) / segments.n_scored.sum()).tolist())
    assert (frame.iloc[0][["change", "change_low", "change_high"]] == 0).all()
