"""Importance of a translator's heads, against loops over single pairs and finite differences."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.core.tiny_models import ENCODER_DECODERS, HEADS, random_encoder_decoder, tokenizer
from workflow_scripts.core.model.attention import open_attention, sublayers, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.translators import Generation, Languages, Translator
from workflow_scripts.translation.translation_curves import gradients, importance_table

# M2M100's and T5's losses have kinks (ReLU), and T5's norms are float32 in a float64 model, too.
SMOOTH = ["marian", "bart", "mbart"]
SIZES = ((9, 4), (3, 11), (14, 2), (5, 5))  # tokens of sources and targets


def translator(name: str) -> Translator:
    model = open_attention(random_encoder_decoder(ENCODER_DECODERS[name]).double())
    return Translator(model, tokenizer(), Languages(), Generation())


def random_pairs() -> tuple[list[list[int]], list[list[int]]]:
    rng = np.random.default_rng(1)
    return tuple(
        [rng.integers(5, 40, length).tolist() for length in lengths]
        for lengths in zip(*SIZES, strict=True)
    )


def loss_at(model: torch.nn.Module, source: list[int], target: list[int], xi: torch.Tensor):
    """The loss of one pair without any padding: its tokens' negative log-likelihoods, summed."""
    with watching(model, Gates(xi)):
        logits = model(input_ids=torch.tensor([source]), labels=torch.tensor([target])).logits
    steps = functional.log_softmax(logits[0], 1)
    return -sum(steps[place, token] for place, token in enumerate(target))


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_a_batch_gives_what_single_pairs_give(name: str) -> None:
    tiny, (sources, targets) = translator(name), random_pairs()
    order = sublayers(tiny.model)
    together = gradients(tiny, sources, targets)
    assert together.shape == (len(SIZES), len(order), HEADS)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        xi = torch.ones(len(order), HEADS, dtype=torch.float64, requires_grad=True)
        loss_at(tiny.model, source, target, xi).backward()
        np.testing.assert_allclose(together[row], xi.grad.abs(), rtol=1e-7, atol=1e-10)
    in_small = gradients(tiny, sources, targets, batch_tokens=1)
    np.testing.assert_allclose(in_small, together, rtol=1e-7, atol=1e-10)
    assert (together > 0).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_equals_finite_differences(name: str) -> None:
    tiny, (sources, targets) = translator(name), random_pairs()
    actual, step = gradients(tiny, sources[:2], targets[:2]), 1e-5
    for row, place, head in np.ndindex(actual.shape):
        ends = []
        for sign in (1, -1):
            xi = torch.ones(actual.shape[1:], dtype=torch.float64)
            xi[place, head] += sign * step
            with torch.no_grad():
                ends.append(loss_at(tiny.model, sources[row], targets[row], xi).item())
        slope = abs(ends[0] - ends[1]) / (2 * step)
        assert actual[row, place, head] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_a_pairs_loss_is_summed_over_its_tokens() -> None:
    """The gradient of a mean over tokens is smaller by their number."""
    tiny, (sources, targets) = translator("marian"), random_pairs()
    actual = gradients(tiny, sources[1:2], targets[1:2])
    xi = torch.ones(actual.shape[1:], dtype=torch.float64, requires_grad=True)
    (loss_at(tiny.model, sources[1], targets[1], xi) / len(targets[1])).backward()
    np.testing.assert_allclose(actual[0], len(targets[1]) * xi.grad.abs(), rtol=1e-7)


def test_the_table_is_normalised_by_type_and_layer() -> None:
    tiny, (sources, targets) = translator("bart"), random_pairs()
    values, order = gradients(tiny, sources, targets), sublayers(tiny.model)
    table = importance_table(values, order, 100, 1)
    assert len(table) == len(order) * HEADS
    np.testing.assert_allclose(table["importance"], values.mean(axis=0).ravel())
    squares = (table["normalised"] ** 2).groupby([table["type"], table["layer"]]).sum()
    np.testing.assert_allclose(squares, 1)
    assert len(squares) == len(order)
    first = table[(table["type"] == "encoder-decoder") & (table["layer"] == 1)]
    place = [(sublayer.type, sublayer.layer) for sublayer in order].index(("encoder-decoder", 1))
    np.testing.assert_allclose(first["importance"], values[:, place].mean(axis=0))
    assert (table["ci_low"] <= table["importance"]).all()
    assert (table["ci_high"] >= table["importance"]).all()
    assert (table["n"] == len(SIZES)).all()
