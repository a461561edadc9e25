"""Copying and eigenvalues against plain loops over the weights and eager's attentions."""

import numpy as np
import pytest
import torch
from transformers import Gemma2Config

from tests.battery.plain_heads import plain_heads
from tests.core.tiny_decoders import GPT2, HEADS, LAYERS, LLAMA, random_decoder
from workflow_scripts.battery.copying import circuit_of, copying, eigenvalue_scores, scores
from workflow_scripts.battery.inputs import repeated
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.head_maps import find_norms, linear_norm, recorded

IDS = repeated(np.arange(5, 60), start=1, n=3, length=7, seed=2)
SMALL = {key: LLAMA.to_dict()[key] for key in ("vocab_size", "num_hidden_layers", "hidden_size")}
SMALL |= {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 32}


def slowly(model, heads, ids: np.ndarray, layer: int, head: int) -> dict[str, float]:
    """The measures of one head on one text, query by query, each logit by itself."""
    gpt2 = model.config.model_type == "gpt2"
    norm = (model.transformer.ln_f if gpt2 else model.model.norm).weight.detach().double().numpy()
    unembedding = model.get_output_embeddings().weight.detach().double().numpy()
    words = sorted(set(ids[1:].tolist()))
    rows = []
    for query in range(len(ids) // 2 + 1, len(ids)):  # of the second copy
        weights = heads.pattern[layer, head, query]
        key = max(range(1, query + 1), key=lambda place: weights[place])
        output = sum(weights[k] * heads.value[layer, head, k] for k in range(query + 1))
        added, read = output @ heads.out[layer, head], heads.entering[query]
        if gpt2:
            scale = np.sqrt(((read - read.mean()) ** 2).mean() + 1e-5)
            added = added - added.mean()
        else:
            scale = np.sqrt((read**2).mean() + model.config.rms_norm_eps)
        logits = {word: float(added / scale * norm @ unembedding[word]) for word in words}
        own = logits.pop(int(ids[key]))
        others = list(logits.values())
        below = [other < own for other in others]
        rows.append((all(below), own - np.mean(others), np.mean(below)))
    return dict(zip(("top", "logit", "below"), np.mean(rows, axis=0), strict=True))


def slow_eigenvalue(model, heads, layer: int, head: int) -> float:
    """The score from the whole matrix of the vocabulary, norms' weights included."""
    gpt2 = model.config.model_type == "gpt2"
    block = model.transformer.h[layer] if gpt2 else model.model.layers[layer]
    before = block.ln_1 if gpt2 else block.input_layernorm
    after = model.transformer.ln_f if gpt2 else model.model.norm
    width = model.config.hidden_size
    centre = np.eye(width) - 1 / width if gpt2 else np.eye(width)
    before, after = (np.diag(each.weight.detach().double()) @ centre for each in (before, after))
    embedding = model.get_input_embeddings().weight.detach().double().numpy()
    unembedding = model.get_output_embeddings().weight.detach().double().numpy()
    ov = heads.out[layer, head].T @ heads.into[layer, head]
    values = np.linalg.eigvals(unembedding @ after @ ov @ before @ embedding.T)
    return float(values.sum().real / np.abs(values).sum())


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_copying_and_eigenvalues_equal_plain_loops(config) -> None:
    model = random_decoder(config)
    expected = [plain_heads(model, row) for row in IDS]
    circuit = circuit_of(attention.open_attention(model))
    found, eigenvalues = copying(model, circuit, IDS), eigenvalue_scores(circuit)
    for layer in range(LAYERS):
        for head in range(HEADS):
            whole = slow_eigenvalue(model, expected[0], layer, head)
            assert eigenvalues[layer, head] == pytest.approx(whole, abs=1e-4)
            for text, heads in enumerate(expected):
                for measure, value in slowly(model, heads, IDS[text], layer, head).items():
                    assert found[measure][text, layer, head] == pytest.approx(value, abs=1e-5)
    assert eigenvalues.std() > 0.05


def test_a_norm_after_attention_is_frozen_too() -> None:
    """What all heads of a layer add together is what the model's own norm makes of their sum."""
    config = Gemma2Config(**SMALL, head_dim=4, pad_token_id=0)
    model = attention.open_attention(random_decoder(config))
    norms = find_norms(model)
    assert [type(norm).__name__ for norm in norms.after] == [type(norms.final).__name__] * LAYERS
    for module in (norms.after[0], norms.final):
        with torch.no_grad(), recorded({"norm": module}) as kept:
            model(torch.from_numpy(IDS))
        read, made = kept["norm"]
        norm = linear_norm(module, model.config.hidden_size, read)
        frozen = norm.unscaled(read) * norm.scale(read, made).unsqueeze(-1) + norm.bias
        torch.testing.assert_close(frozen, made, atol=1e-5, rtol=1e-4)
    circuit = circuit_of(model)
    assert set(circuit.linear) == {"final", *range(LAYERS)}
    found = copying(model, circuit, IDS)
    assert np.isfinite(found["logit"]).all()


def test_a_head_copies_that_is_above_the_threshold_and_significant() -> None:
    """Not one at chance, one too weak, or one that significantly lowers the logit."""
    rng = np.random.default_rng(0)
    top = np.array([[[0.9, 0.9, 0.1, 0.9]]] * 20)
    logit = np.array([1.0, 0.0, 1.0, -1.0]) + rng.normal(0, [0.1, 1, 0.1, 0.1], (20, 1, 4))
    frame = scores({"top": top, "logit": logit, "below": top}, 0.3, 100, 1)
    assert frame["has_role"].tolist() == [True, False, False, False]
    assert frame["p_corrected"][0] < 0.001 < frame["p_corrected"][1]
    assert frame["p_corrected"][3] < 0.001
